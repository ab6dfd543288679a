import { execFile } from 'node:child_process'

export interface ProgramResult {
  stdout: string
  stderr: string
}

/**
 * The failure of a program that was run to its end. `exitCode` is undefined if the program could not be run or was
 * stopped at the time limit.
 */
export class ProgramFailure extends Error {
  readonly exitCode: number | undefined
  readonly output: string

  constructor(program: string, exitCode: number | undefined, output: string, cause: unknown) {
    const lastLines = output.trim().split('\n').slice(-8).join('\n')
    super(`${program} failed${exitCode === undefined ? '' : ` with exit code ${exitCode}`}: ${lastLines}`, { cause })
    this.name = 'ProgramFailure'
    this.exitCode = exitCode
    this.output = output
  }
}

/**
 * Runs a program to its end.
 * @throws ProgramFailure if the exit code is not 0, if the program cannot be run, or after `timeoutMs`
 */
export async function runProgram(
  program: string,
  args: readonly string[],
  { timeoutMs, env, cwd }: { timeoutMs: number; env?: NodeJS.ProcessEnv; cwd?: string },
): Promise<ProgramResult> {
  return new Promise((resolve, reject) => {
    const options = {
      timeout: timeoutMs,
      maxBuffer: 32 * 1024 * 1024,
      killSignal: 'SIGKILL' as const,
      encoding: 'utf8' as const,
    }
    const child = execFile(
      program,
      args,
      { ...options, ...(env ? { env } : {}), ...(cwd ? { cwd } : {}) },
      (error, stdout, stderr) => {
        // At the time limit Node drops what is left of the output, and reports no error if the program has just ended by itself.
        if (error === null && !child.killed) return resolve({ stdout, stderr })
        const exitCode = typeof error?.code === 'number' ? error.code : undefined
        reject(new ProgramFailure(program, exitCode, `${stdout}\n${stderr}`, error))
      },
    )
  })
}
