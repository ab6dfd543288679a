/** Runs a program of this repository that does one piece of work and ends, so that the launcher never holds the memory that the work needs. */
import { spawn } from 'node:child_process'
import { setPriority } from 'node:os'
import { END_WITH_PARENT } from './service-process.ts'

export interface ChildRun {
  readonly code: number | null
  /** All output. */
  readonly output: string
  /** The last message of the child; undefined without one. */
  readonly message: unknown
}

export interface ChildOptions {
  /** That of this process by default. */
  readonly env?: NodeJS.ProcessEnv
  /** The priority of the process, from 0 to 19, the lowest; that of this process by default. */
  readonly niceness?: number
  /** Called with each piece of output. */
  onOutput?(text: string): void
}

/** Resolves when the child has ended. It also ends with this process. @throws Error if it cannot be started */
export async function runChild(program: string, { env, niceness, onOutput }: ChildOptions = {}): Promise<ChildRun> {
  const child = spawn(process.execPath, ['--import', END_WITH_PARENT, program], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    ...(env === undefined ? {} : { env }),
  })
  if (niceness !== undefined && child.pid !== undefined) setPriority(child.pid, niceness)
  let output = ''
  let message: unknown
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text
      onOutput?.(text)
    })
  }
  child.on('message', received => {
    message = received
  })
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  return { code, output, message }
}
