import { pollUntil } from './poll.ts'
import { isAlive, type ProcessIdentity, signalProcess } from './process-identity.ts'
import { StackError } from './stack-contract.ts'

/** Between SIGTERM and SIGKILL. Kafka needs about 1 s, mongod 0.3 s; the data of both survives a SIGKILL. */
export const GRACE_MS = 6_000

/**
 * SIGTERM, then SIGKILL when it has not ended in time; resolves when the process has ended.
 * @throws StackError when even SIGKILL does not end it
 */
export async function endProcess(identity: ProcessIdentity, graceMs: number = GRACE_MS): Promise<void> {
  if (!signalProcess(identity, 'SIGTERM')) return
  // A process paused with SIGSTOP receives its SIGTERM only after a SIGCONT.
  signalProcess(identity, 'SIGCONT')
  if (await hasEnded(identity, graceMs)) return
  signalProcess(identity, 'SIGKILL')
  if (!(await hasEnded(identity, 10_000))) {
    throw new StackError(
      `Process ${identity.pid} does not end`,
      `Look at it with: ps -o pid,stat,command -p ${identity.pid}`,
    )
  }
}

async function hasEnded(identity: ProcessIdentity, timeoutMs: number): Promise<boolean> {
  const ended = await pollUntil(() => (isAlive(identity) ? undefined : true), { timeoutMs, everyMs: 20 })
  return ended === true
}
