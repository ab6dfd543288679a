/** `backstop dry-run` and the program that it starts, as processes, while MongoDB does not answer. */
import { type ChildProcessByStdio, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { nodeEnvironment, until } from '@backstop/kit/test'
import { identify, isAlive, type ProcessIdentity } from '@backstop/stack'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const MAIN = join(ROOT, 'packages/cli/src/main.ts')
const ENDED_WITHIN_MS = 2_000

/** Accepts connections and never answers, so the dry run waits. */
let silent: Server
const sockets = new Set<Socket>()
let mongoUrl = ''

beforeAll(async () => {
  silent = createServer(socket => sockets.add(socket.on('error', () => {})))
  await once(silent.listen(0, '127.0.0.1'), 'listening')
  const { port } = silent.address() as { port: number }
  mongoUrl = `mongodb://ada:s3cret-word@127.0.0.1:${port}/?directConnection=true`
})
afterAll(() => {
  for (const socket of sockets) socket.destroy()
  silent?.close()
})

let command: ChildProcessByStdio<null, Readable, Readable> | undefined
afterEach(() => {
  command?.kill('SIGKILL')
})

interface Process {
  readonly pid: number
  readonly parent: number
  readonly arguments: string
}

function processes(): Process[] {
  return execFileSync('ps', ['-A', '-ww', '-o', 'pid=,ppid=,command='], { encoding: 'utf8' })
    .split('\n')
    .map(line => /^ *(\d+) +(\d+) +(.*)$/.exec(line) ?? [])
    .map(([, pid, parent, text = '']) => ({ pid: Number(pid), parent: Number(parent), arguments: text }))
}

function start(main: string) {
  const started = spawn(process.execPath, [main, 'dry-run', '--from', '1h'], {
    cwd: tmpdir(),
    env: { ...nodeEnvironment(), MONGO_URL: mongoUrl },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  command = started
  let [out, err] = ['', '']
  started.stdout.on('data', chunk => (out += chunk))
  started.stderr.on('data', chunk => (err += chunk))
  const ended = once(started, 'close').then(([exit, signal]) => ({ exit, signal, out, err }))
  return { pid: started.pid ?? 0, ended }
}

/** Starts a dry run, and waits until its program has connected to the database. */
async function startDryRun() {
  const connections = sockets.size
  const { pid, ended } = start(MAIN)
  await until('the program connects to the database', () => sockets.size > connections)
  const [program, ...more] = processes().filter(({ parent }) => parent === pid)
  if (program === undefined) throw new Error('The command has no child process')
  expect(more).toEqual([])
  return { pid, program, ended }
}

test('the arguments of no process contain the credentials of the database', async () => {
  const { program } = await startDryRun()
  expect(program.arguments).toContain('reconciler/src/dry-run/program.ts')
  expect(processes().filter(one => one.arguments.includes('s3cret-word'))).toEqual([])
})

test('a program that is killed ends the command with exit code 1 and one error text', async () => {
  const { program, ended } = await startDryRun()
  process.kill(program.pid, 'SIGKILL')
  const err = 'The dry run ended without a result: SIGKILL\n'
  expect(await ended).toEqual({ exit: 1, signal: null, out: '', err })
})

test.each(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGKILL'] as const)('%s ends the command and its program', async signal => {
  const { pid, program, ended } = await startDryRun()
  const identity = identify(program.pid) as ProcessIdentity
  process.kill(pid, signal)
  expect(await ended).toEqual({ exit: null, signal, out: '', err: '' })
  await until('the program ends', () => !isAlive(identity), { timeoutMs: ENDED_WITHIN_MS })
})

test('says where the dry run can run when the code of the reconciler is not installed', async () => {
  const image = mkdtempSync(join(tmpdir(), 'backstop-image-'))
  try {
    cpSync(join(ROOT, 'packages'), join(image, 'packages'), { recursive: true })
    const modules = join(image, 'node_modules')
    mkdirSync(join(modules, '@backstop'), { recursive: true })
    for (const name of readdirSync(join(ROOT, 'node_modules'))) {
      if (name !== '@backstop') symlinkSync(join(ROOT, 'node_modules', name), join(modules, name))
    }
    for (const name of readdirSync(join(image, 'packages'))) {
      symlinkSync(join(image, 'packages', name), join(modules, '@backstop', name))
    }
    // npm links every workspace, also one whose folder an image does not have.
    symlinkSync(join(image, 'services/reconciler'), join(modules, '@backstop/reconciler'))
    const { ended } = start(join(image, 'packages/cli/src/main.ts'))
    const err = "The reconciler's code is not installed here\n\nRun dry-run in the reconciler's image\n"
    expect(await ended).toEqual({ exit: 1, signal: null, out: '', err })
  } finally {
    rmSync(image, { recursive: true, force: true })
  }
})
