import { type ChildProcess, spawn } from 'node:child_process'
import type { TestStack } from './stack.ts'
import { until } from './until.ts'

/** The environment of a program of a test: what Node needs, with its cache of compiled code, and nothing else of this process. */
export function nodeEnvironment(): Record<string, string> {
  const { PATH = '', NODE_COMPILE_CACHE } = process.env
  return NODE_COMPILE_CACHE === undefined ? { PATH } : { PATH, NODE_COMPILE_CACHE }
}

/** A service in a process of its own, which ends with the scope that started it. */
export interface CrashingProgram extends Disposable {
  output(): string
  /** Waits until the program has killed itself at its crash point. @throws Error with its output if it ends otherwise */
  untilKilled(): Promise<void>
}

/**
 * Starts a program that reads the addresses of the stack from BROKERS, TOPIC_PREFIX, MONGO and DB.
 * @param crashAt the crash point at which it kills itself; without it, it runs on
 */
export function startCrashingProgram(program: string, stack: TestStack, crashAt?: string): CrashingProgram {
  let text = ''
  const child: ChildProcess = spawn(process.execPath, [program], {
    env: {
      ...nodeEnvironment(),
      BROKERS: stack.kafkaBrokers.join(','),
      TOPIC_PREFIX: stack.topicPrefix,
      MONGO: stack.mongoUrl.reveal(),
      DB: stack.dbName,
      ...(crashAt === undefined ? {} : { CRASH_AT: crashAt }),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', chunk => (text += chunk))
  const output = () => text
  const died = new Promise<NodeJS.Signals | null>(resolve => child.once('exit', (_code, signal) => resolve(signal)))
  return {
    output,
    async untilKilled() {
      const deadline = until(`the crash at ${crashAt}`, () => false, { timeoutMs: 90_000, seen: output })
      const signal = await Promise.race([died, deadline])
      if (signal !== 'SIGKILL' || !text.includes(`crash point ${crashAt}`))
        throw new Error(`It ended by ${signal}, and not at ${crashAt}: ${text}`)
    },
    [Symbol.dispose]: () => void child.kill('SIGKILL'),
  }
}

/**
 * Kills a program at each of the crash points in turn, and returns it running again. Each start continues from the data that the
 * crash before it left.
 * @param reachPoints makes the first process reach the first point
 */
export async function crashAtEach(
  points: readonly string[],
  start: (crashAt?: string) => CrashingProgram,
  reachPoints: () => Promise<unknown>,
): Promise<CrashingProgram> {
  for (const [index, point] of points.entries()) {
    using doomed = start(point)
    if (index === 0) await reachPoints()
    await doomed.untilKilled()
  }
  return start()
}
