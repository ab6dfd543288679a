import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { RunAnswer, RunRequest } from './worker.ts'

/** Processes that carry out runs side by side. */
export interface WorkerPool {
  /** The number of processes. */
  readonly size: number
  /** @throws Error if the process ends, with its error output */
  run(request: RunRequest): Promise<RunAnswer>
  stop(): void
}

interface Worker {
  readonly child: ChildProcess
  /** Rejects when the process ends, with its error output. */
  readonly ended: Promise<never>
}

/** @param count number of processes @param argv further arguments of each process */
export async function openWorkers(count: number, argv: readonly string[] = []): Promise<WorkerPool> {
  const workers = await Promise.all(Array.from({ length: count }, () => openWorker(argv)))
  const free = [...workers]
  const waiting: ((worker: Worker) => void)[] = []
  const take = () => {
    const worker = free.pop()
    return worker === undefined ? new Promise<Worker>(resolve => waiting.push(resolve)) : Promise.resolve(worker)
  }
  const give = (worker: Worker) => {
    const next = waiting.shift()
    if (next === undefined) free.push(worker)
    else next(worker)
  }
  return {
    size: count,
    async run(request) {
      const worker = await take()
      try {
        return await ask(worker, request)
      } finally {
        give(worker)
      }
    },
    stop() {
      for (const { child } of workers) child.kill()
    },
  }
}

async function openWorker(argv: readonly string[]): Promise<Worker> {
  const child = fork(new URL('./worker.ts', import.meta.url), argv, {
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
    // Most objects of a run live for milliseconds: with more room they are gone before they are moved.
    execArgv: [...process.execArgv, '--max-semi-space-size=64'],
  })
  let stderr = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk).slice(-4_000)
  })
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`A process of the simulation ended with code ${code}: ${stderr}`)
  })
  ended.catch(() => {})
  await Promise.race([once(child, 'message'), ended])
  return { child, ended }
}

async function ask({ child, ended }: Worker, request: RunRequest): Promise<RunAnswer> {
  const [answer] = await new Promise<unknown[]>((resolve, reject) => {
    const onMessage = (...values: unknown[]) => resolve(values)
    child.once('message', onMessage)
    child.send(request)
    ended.catch(reject)
  })
  return answer as RunAnswer
}
