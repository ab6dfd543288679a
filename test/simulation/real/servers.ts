import type { RunningStack } from '@backstop/stack'
import { MongoClient } from 'mongodb'
import { freezeProcess } from './cluster.ts'

/** Accidents of the servers themselves. Only for a stack that nobody else uses. */
export interface OwnServers {
  /** Kills a server with SIGKILL, and starts it again after a while. */
  kill(server: 'kafka' | 'mongo', downMs: number): void
  freeze(server: 'kafka' | 'mongo', forMs: number): void
  /** Leaves MongoDB without a primary for a while. */
  stepDown(forMs: number): void
  /** Resolves when every server that was killed runs again. @throws Error if one does not start */
  untilRunning(): Promise<void>
}

export function ownServers({ parts, urls }: RunningStack): OwnServers {
  const restarts = new Map<string, Promise<void>>()
  const restart = async (server: 'kafka' | 'mongo', downMs: number) => {
    parts[server].kill('SIGKILL')
    await new Promise(resolve => setTimeout(resolve, downMs))
    await parts[server].restart()
  }
  return {
    kill(server, downMs) {
      const running = restarts.get(server)
      if (running === undefined)
        restarts.set(
          server,
          restart(server, downMs).then(() => void restarts.delete(server)),
        )
    },
    freeze(server, forMs) {
      const { pid } = parts[server]
      if (pid !== undefined && !restarts.has(server)) freezeProcess(pid, forMs)
    },
    stepDown(forMs) {
      const client = new MongoClient(urls.mongo, { serverSelectionTimeoutMS: 1_000, socketTimeoutMS: 5_000 })
      const command = { replSetStepDown: forMs / 1_000, force: true }
      client
        .db('admin')
        .command(command)
        // A server that is down or frozen has no primary to step down.
        .catch(() => undefined)
        .finally(() => client.close())
    },
    async untilRunning() {
      await Promise.all(restarts.values())
    },
  }
}
