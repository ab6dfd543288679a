import { lookup } from 'node:dns/promises'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { Report } from '../report.ts'
import {
  type ConnectionAttempt,
  type ForbiddenTarget,
  judgeAttempts,
  type PolicyVerdict,
} from './rules/judge-attempts.ts'

interface PolicyCheck {
  readonly targets: readonly ForbiddenTarget[]
  /**
   * Time after which a connection attempt counts as blocked, in milliseconds: most plug-ins drop packets without an
   * answer.
   */
  readonly connectTimeoutMs: number
  /** How long a target may be reachable before the check fails, in milliseconds. */
  readonly gracePeriodMs: number
  /** Pause between two rounds of attempts, in milliseconds. */
  readonly intervalMs: number
  /** Called with the reason to wait, whenever the reason changes. */
  readonly report: Report
}

/** Tries all targets repeatedly until the verdict is final. Waits without end for unknown names. */
export async function checkNetworkPolicy({
  targets,
  connectTimeoutMs,
  gracePeriodMs,
  intervalMs,
  report,
}: PolicyCheck) {
  let reachedSince: number | undefined
  let reported: string | undefined
  for (;;) {
    const attempts = (await Promise.all(targets.map(target => attemptTarget(target, connectTimeoutMs)))).flat()
    const now = performance.now()
    reachedSince = attempts.some(({ outcome }) => outcome === 'reached') ? (reachedSince ?? now) : undefined
    const verdict: PolicyVerdict = judgeAttempts(attempts, now - (reachedSince ?? now), gracePeriodMs)
    if (verdict.state === 'enforced' || verdict.state === 'not_enforced') return verdict
    if (verdict.reason !== reported) report(verdict.reason)
    reported = verdict.reason
    await pause(intervalMs)
  }
}

/** Makes one attempt for each address of the target; returns a single unresolved attempt if DNS knows none. */
async function attemptTarget(target: ForbiddenTarget, timeoutMs: number): Promise<ConnectionAttempt[]> {
  try {
    const addresses = await lookup(target.host, { all: true })
    return await Promise.all(addresses.map(({ address }) => attemptAddress(target, address, timeoutMs)))
  } catch (error) {
    return [{ target, outcome: 'unresolved', detail: codeOf(error) }]
  }
}

/** Connects and sends nothing, because an open connection is proof enough. */
function attemptAddress(target: ForbiddenTarget, address: string, timeoutMs: number): Promise<ConnectionAttempt> {
  return new Promise(resolve => {
    const socket = connect({ host: address, port: target.port, timeout: timeoutMs })
    const end = (outcome: ConnectionAttempt['outcome'], detail: string) => {
      socket.destroy()
      resolve({ target, outcome, detail })
    }
    socket.once('connect', () => end('reached', address))
    socket.once('timeout', () => end('blocked', `no answer within ${timeoutMs} ms`))
    socket.once('error', error => end('blocked', codeOf(error)))
  })
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code ?? String(error)
