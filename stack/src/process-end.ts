import { pollUntil } from './poll.ts'
import { isAlive, type ProcessIdentity, signalProcess } from './process-identity.ts'
import { StackError } from './stack-contract.ts'

/**
 * Time between SIGTERM and SIGKILL, in milliseconds. Kafka needs about 1 s, mongod 0.3 s; the data of both survives a
 * SIGKILL.
 */
const GRACE_MS = 6_000

/**
 * Sends SIGTERM, then SIGKILL if the process has not ended in time. Resolves when it has ended.
 * @throws StackError if the process does not end after SIGKILL
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
