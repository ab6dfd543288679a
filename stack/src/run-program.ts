import { execFile } from 'node:child_process'

export interface ProgramResult {
  stdout: string
  stderr: string
}

/** How a program ended that failed. */
interface FailedRun {
  /** Undefined if the program could not be run or was stopped at the time limit. */
  readonly exitCode: number | undefined
  /** The time limit that stopped it; undefined if it ended before. */
  readonly timeLimitMs: number | undefined
  readonly output: string
}

/** The failure of a program that was run to its end. */
export class ProgramFailure extends Error {
  readonly run: FailedRun

  constructor(program: string, run: FailedRun, cause: unknown) {
    const { exitCode, timeLimitMs, output } = run
    const lastLines = output.trim().split('\n').slice(-8)
    const how = exitCode === undefined ? 'failed' : `failed with exit code ${exitCode}`
    const ended = timeLimitMs === undefined ? how : `did not end within ${timeLimitMs / 1_000} s`
    super([`${program} ${ended}`, ...lastLines].filter(line => line !== '').join('\n'), { cause })
    this.name = 'ProgramFailure'
    this.run = run
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
        const timeLimitMs = child.killed ? timeoutMs : undefined
        reject(new ProgramFailure(program, { exitCode, timeLimitMs, output: `${stdout}\n${stderr}` }, error))
      },
    )
  })
}
