import { lookup } from 'node:dns/promises'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { Report } from '../report.ts'
import { judgeWall, type Knock, type WallTarget, type WallVerdict } from './rules/judge-wall.ts'

interface WallCheck {
  readonly targets: readonly WallTarget[]
  /** How long a connection may take before it counts as blocked, in milliseconds: most plug-ins drop without an answer. */
  readonly connectTimeoutMs: number
  /** How long something may be reached before that is a breach, in milliseconds. */
  readonly patienceMs: number
  /** Pause between two looks, in milliseconds. */
  readonly everyMs: number
  /** Hears each reason to wait once, until it changes. */
  readonly report: Report
}

/** Knocks at every target until it is plain whether the policies hold. Waits for names without end. */
export async function checkWall({ targets, connectTimeoutMs, patienceMs, everyMs, report }: WallCheck) {
  let reachedSince: number | undefined
  let told: string | undefined
  for (;;) {
    const knocks = (await Promise.all(targets.map(target => knockAt(target, connectTimeoutMs)))).flat()
    const now = performance.now()
    reachedSince = knocks.some(({ outcome }) => outcome === 'reached') ? (reachedSince ?? now) : undefined
    const verdict: WallVerdict = judgeWall(knocks, now - (reachedSince ?? now), patienceMs)
    if (verdict.state === 'stands' || verdict.state === 'breached') return verdict
    if (verdict.reason !== told) report(verdict.reason)
    told = verdict.reason
    await pause(everyMs)
  }
}

/** A knock for each address of the target; one, if it has none. */
async function knockAt(target: WallTarget, timeoutMs: number): Promise<Knock[]> {
  try {
    const addresses = await lookup(target.host, { all: true })
    return await Promise.all(addresses.map(({ address }) => knock(target, address, timeoutMs)))
  } catch (error) {
    return [{ target, outcome: 'absent', detail: codeOf(error) }]
  }
}

/** A connection is enough: whatever would be said over it is none of our business. */
function knock(target: WallTarget, address: string, timeoutMs: number): Promise<Knock> {
  return new Promise(resolve => {
    const socket = connect({ host: address, port: target.port, timeout: timeoutMs })
    const end = (outcome: Knock['outcome'], detail: string) => {
      socket.destroy()
      resolve({ target, outcome, detail })
    }
    socket.once('connect', () => end('reached', address))
    socket.once('timeout', () => end('blocked', `no answer within ${timeoutMs} ms`))
    socket.once('error', error => end('blocked', codeOf(error)))
  })
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code ?? String(error)
