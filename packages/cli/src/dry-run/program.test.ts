/** How the command follows a program, with small programs in place of the reconciler's. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DryRunLine } from '@backstop/contracts'
import { afterAll, expect, test } from 'vitest'
import { CommandFault } from '../fault.ts'
import { runProgram } from './program.ts'

const folder = mkdtempSync(join(tmpdir(), 'backstop-program-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const request = { mongo_url: 'mongodb://u:secret@host', database: 'backstop', from: 0, to: 1, recheck_delay_ms: 0 }
const progress = { type: 'progress', walking: 'actions', at: 1, compared: 2, different: 0 } as const

/** The lines of a program with this source code, and why it failed. */
async function run(source: string) {
  const path = join(folder, 'program.mjs')
  writeFileSync(path, source)
  const lines: DryRunLine[] = []
  try {
    for await (const line of runProgram(path, request, { PATH: process.env.PATH })) lines.push(line)
  } catch (error) {
    return { lines, fault: error as CommandFault }
  }
  return { lines, fault: undefined }
}

const WRITE_PROGRESS = `process.stdout.write(${JSON.stringify(`${JSON.stringify(progress)}\n`)});`

test.each([
  {
    name: 'exits early',
    source: "console.error('the heap is full'); process.exitCode = 134",
    message: 'The dry run ended without a result: exit code 134',
    remedy: 'the heap is full\n',
  },
  {
    name: 'is killed',
    source: "process.kill(process.pid, 'SIGKILL')",
    message: 'The dry run ended without a result: SIGKILL',
    remedy: '',
  },
  {
    name: 'is killed in the middle of a line',
    source: 'process.stdout.write(\'{"type":"summ\', () => process.kill(process.pid, "SIGTERM"))',
    message: 'The dry run ended without a result: SIGTERM',
    remedy: '',
  },
  {
    name: 'writes no JSON',
    source: "console.log('Debugger attached'); setInterval(() => {}, 1_000)",
    message: 'The dry run wrote a line that this version does not know',
    remedy: expect.stringContaining('of the same version'),
  },
  {
    name: 'writes an unknown type of line',
    source: 'console.log(\'{"type":"estimate"}\'); setInterval(() => {}, 1_000)',
    message: 'The dry run wrote a line that this version does not know',
    remedy: expect.stringContaining('of the same version'),
  },
])(
  'keeps the lines until then and fails with one message when the program $name',
  async ({ source, message, remedy }) => {
    const { lines, fault } = await run(`${WRITE_PROGRESS} ${source}`)
    expect(lines).toEqual([progress])
    expect(fault).toBeInstanceOf(CommandFault)
    expect(fault).toMatchObject({ exit: 'failed', message, remedy })
  },
)

test('masks secrets in the error text of a program that fails', async () => {
  const { fault } = await run("console.error('mongodb://u:secret@host refused'); process.exitCode = 1")
  expect(fault?.remedy).toContain('refused')
  expect(fault?.remedy).not.toContain('secret@')
})

test('sends the request by standard input, which it keeps open, and not in the arguments', async () => {
  const { lines, fault } = await run(`
    process.stdin.setEncoding('utf8').once('data', text => {
      const isPassedOn = process.argv.length === 2 && JSON.parse(text).mongo_url === '${request.mongo_url}'
      console.log(JSON.stringify({ type: 'failed', error: String(isPassedOn) }))
      process.stdin.once('end', () => console.log('closed'))
      setTimeout(() => process.exit(0), 200)
    })`)
  expect(lines).toEqual([{ type: 'failed', error: 'true' }])
  expect(fault?.message).toBe('The dry run ended without a result: exit code 0')
})
