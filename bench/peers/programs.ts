/** The programs that the script of a peer starts. They end with the script. */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'

/** Time between SIGTERM and SIGKILL. */
const END_WITHIN_MS = 15_000

interface Running {
  readonly child: ChildProcess
  readonly ended: Promise<unknown>
}

const running: Running[] = []
// After an uncaught error there is no time to wait for their ends.
process.once('exit', signalAll)

/** Starts a program, whose output is the output of this script. If the program ends before `stopPrograms`, so does this script. */
export function startProgram(path: string, args: readonly string[], options: SpawnOptions = {}): ChildProcess {
  const child = spawn(path, args, { ...options, stdio: ['ignore', 'inherit', 'inherit'] })
  const program: Running = { child, ended: new Promise(resolve => child.once('exit', resolve)) }
  child.once('error', fail)
  child.once('exit', code => {
    if (running.includes(program)) fail(new Error(`${path} ended with ${child.signalCode ?? code}`))
  })
  running.push(program)
  return child
}

function fail(error: Error): void {
  process.stderr.write(`${error.message}\n`)
  process.exit(1)
}

/** Stops all programs, the latest first, and waits for their ends. */
export async function stopPrograms(): Promise<void> {
  await Promise.all(signalAll().map(endOf))
}

function signalAll(): Running[] {
  const all = running.splice(0).reverse()
  for (const { child } of all) child.kill('SIGTERM')
  return all
}

async function endOf({ child, ended }: Running): Promise<void> {
  const timer = setTimeout(() => child.kill('SIGKILL'), END_WITHIN_MS)
  await ended
  clearTimeout(timer)
}
