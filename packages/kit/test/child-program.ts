import { spawn } from 'node:child_process'
import type { TestStack } from './stack.ts'

/** The environment of a program of a test: what Node needs, with its cache of compiled code, and nothing else of this process. */
export function nodeEnvironment(): Record<string, string> {
  const { PATH = '', NODE_COMPILE_CACHE } = process.env
  return NODE_COMPILE_CACHE === undefined ? { PATH } : { PATH, NODE_COMPILE_CACHE }
}

/** A program in a process of its own, which is killed when the scope that started it ends. */
export interface ChildProgram extends Disposable {
  output(): string
  /** Kills it, and waits until it has ended. */
  kill(): Promise<void>
}

/** Starts a program that reads the addresses of the stack from BROKERS, TOPIC_PREFIX, MONGO and DB. */
export function startProgram(program: string, stack: TestStack): ChildProgram {
  let text = ''
  const child = spawn(process.execPath, [program], {
    env: {
      ...nodeEnvironment(),
      BROKERS: stack.kafkaBrokers.join(','),
      TOPIC_PREFIX: stack.topicPrefix,
      MONGO: stack.mongoUrl.reveal(),
      DB: stack.dbName,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (text += chunk))
  const ended = new Promise<void>(resolve => child.once('exit', () => resolve()))
  return {
    output: () => text,
    kill() {
      child.kill('SIGKILL')
      return ended
    },
    [Symbol.dispose]: () => void child.kill('SIGKILL'),
  }
}
