/** Prometheus's own tool checks the rules of deploy/monitoring and runs their tests. */
import { execFileSync } from 'node:child_process'
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { DASHBOARDS } from '../../scripts/monitoring/dashboards.ts'
import { findPrometheus } from './find-prometheus.ts'

const FOLDER = resolve(import.meta.dirname, '../../deploy/monitoring')

let promtool: string
beforeAll(() => {
  promtool = findPrometheus(process.env).promtool
})

/** The output of promtool. @throws Error with the output if it fails */
function run(...args: string[]): string {
  try {
    return execFileSync(promtool, args, { cwd: FOLDER, encoding: 'utf8', stdio: 'pipe' })
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string }
    throw new Error(`${stdout}\n${stderr}`, { cause: error })
  }
}

test('every rule is valid', () => {
  const files = globSync('rules/*.yaml', { cwd: FOLDER })
  expect(files.length).toBeGreaterThan(1)
  expect(run('check', 'rules', ...files).match(/SUCCESS/g)).toHaveLength(files.length)
})

test('every alert fires when its fault lasts, and not before', () => {
  const files = globSync('tests/*.test.yaml', { cwd: FOLDER })
  expect(files.length).toBeGreaterThan(1)
  expect(run('test', 'rules', ...files).match(/SUCCESS/g)).toHaveLength(files.length)
})

test('every query of a dashboard is valid', () => {
  const folder = mkdtempSync(join(tmpdir(), 'backstop-dashboards-'))
  const queries = DASHBOARDS.flatMap(({ rows }) => rows.flat().flatMap(panel => panel.queries.map(({ expr }) => expr)))
  // promtool checks rules only, so each query becomes one.
  const rules = queries.map((expr, index) => ({
    record: `query${index}`,
    expr: expr.replaceAll('$__rate_interval', '1m'),
  }))
  try {
    writeFileSync(join(folder, 'queries.json'), JSON.stringify({ groups: [{ name: 'queries', rules }] }))
    expect(run('check', 'rules', join(folder, 'queries.json'))).toContain(`SUCCESS: ${queries.length} rules found`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
