/** Compares docs/cli.md with the commands. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createProgram } from '../../packages/cli/src/command-line.ts'
import { wordsOf } from '../../packages/cli/src/completion/command.ts'
import type { Surroundings } from '../../packages/cli/src/surroundings.ts'
import { SCENARIOS } from '../../packages/cli/src/trigger/scenarios.ts'

const page = readFileSync(new URL('../../docs/cli.md', import.meta.url), 'utf8')
const section = (title: string) => page.split(/^## /m).find(text => text.startsWith(`${title}\n`)) ?? ''
/** The names in the first column of a section's table. */
const listed = (title: string) =>
  [...section(title).matchAll(/^\| (`.*?) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name),
  )

test('the table of commands lists every command', () => {
  const words = wordsOf(createProgram({} as Surroundings))
  const commands = [...words.keys()].filter(
    path => path !== '' && ![...words.keys()].some(one => one.startsWith(`${path} `)),
  )
  expect(listed('Commands').toSorted()).toEqual(commands.toSorted())
})

test('the table of scenarios lists every scenario', () => {
  expect(listed('Scenarios').toSorted()).toEqual(Object.keys(SCENARIOS).toSorted())
})
