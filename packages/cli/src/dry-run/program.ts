import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { DryRunLine, type DryRunRequest } from '@backstop/contracts'
import type { Environment } from '@backstop/kit/config'
import { maskSecrets } from '@backstop/kit/logger'
import { streamLines } from '@backstop/kit/stream-lines'
import { CommandFault } from '../fault.ts'

/** Most characters shown of what a failing program wrote to standard error. */
const SHOWN_ERROR_LENGTH = 4_000

/**
 * The path of the reconciler's dry-run program. It is a program, and no import, because packages do not depend on services: only the
 * reconciler's image has its code.
 */
export function findProgram(): string {
  try {
    return fileURLToPath(import.meta.resolve('@backstop/reconciler/dry-run'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new CommandFault(
      'failed',
      "The reconciler's code is not installed here",
      "Run dry-run in the reconciler's image",
      error,
    )
  }
}

/**
 * The lines that the program answers; the last one is a summary, or says why there is none. The program ends with this process,
 * also by Ctrl-C or kill -9, because that closes its standard input.
 * @throws CommandFault if the program ends before its last line, or writes an unknown one
 */
export async function* runProgram(
  program: string,
  request: DryRunRequest,
  environment: Environment,
): AsyncGenerator<DryRunLine> {
  const child = spawn(process.execPath, [program], { env: environment, stdio: 'pipe' })
  const ended = endOf(child)
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', text => {
    errors = `${errors}${text}`.slice(-SHOWN_ERROR_LENGTH)
  })
  // A program that ended does not read its request; how it ended says more than the failed write.
  child.stdin.on('error', () => {})
  child.stdin.write(`${JSON.stringify(request)}\n`)
  try {
    for await (const text of streamLines(child.stdout)) yield readLine(text)
    const how = await ended
    throw new CommandFault('failed', `The dry run ended without a result: ${how}`, maskSecrets(errors))
  } finally {
    child.kill('SIGKILL')
  }
}

function readLine(text: string): DryRunLine {
  const line = DryRunLine.safeParse(parsed(text))
  if (line.success) return line.data
  const remedy = 'Use the command line and the reconciler of the same version'
  throw new CommandFault('failed', 'The dry run wrote a line that this version does not know', remedy, line.error)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function endOf(child: ChildProcess): Promise<string> {
  return new Promise(resolve => {
    child.once('error', error => resolve(error.message))
    child.once('close', (code, signal) => resolve(signal === null ? `exit code ${code}` : signal))
  })
}
