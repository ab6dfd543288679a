/** docs/troubleshooting.md leads to every finding of `backstop doctor` and to every alert. */
import { globSync, readFileSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { FINDING_CODES } from '../packages/cli/src/doctor/rules/finding.ts'
import { unknownWords } from './setup/command-words.ts'

const ROOT = resolve(import.meta.dirname, '..')
const page = readFileSync(`${ROOT}/docs/troubleshooting.md`, 'utf8')
const alerts = globSync('docs/runbooks/Backstop*.md', { cwd: ROOT }).map(path => basename(path, '.md'))

describe('docs/troubleshooting.md', () => {
  test.each(FINDING_CODES)('leads to the finding %s', code => {
    expect(page).toContain(`[${code}](doctor.md#${code})`)
  })

  test.each(alerts)('leads to the alert %s', alert => {
    expect(page).toContain(`[${alert}](runbooks/${alert}.md)`)
  })

  test('shows commands that exist, with their options', () => {
    const commands = [...page.matchAll(/`(backstop [a-z][^`]*)`/g)].map(([, line = '']) => line)
    expect(commands.length).toBeGreaterThan(8)
    expect(commands.flatMap(unknownWords)).toEqual([])
  })
})

test('every section of docs/doctor.md and every runbook leads to a remedy', () => {
  const doctor = readFileSync(`${ROOT}/docs/doctor.md`, 'utf8')
  expect(doctor).toContain('](troubleshooting.md')
  expect(readFileSync(`${ROOT}/docs/runbooks/README.md`, 'utf8')).toContain('](../troubleshooting.md')
})
