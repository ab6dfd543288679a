/**
 * A provider that sends authentic events at an even rate and, like real providers, repeats events that were not
 * accepted.
 */
import type { CreatedConnection } from '@backstop/contracts'
import { createEventPoster } from '../../test/setup/event-poster.ts'
import { makeRefunds, type Refund } from '../../test/setup/refunds.ts'
import { publishSteadily } from '../../test/setup/steady-load.ts'

const TRIES = 40
const SOCKETS = 20

export interface SentEvents {
  /** Ids of the events. Each was eventually answered with 200. */
  readonly ids: readonly string[]
  /** Times from the first attempt to the answer 200, in milliseconds. */
  readonly latenciesMs: readonly number[]
  /** Number of failed attempts, by status or error code. */
  readonly failures: Readonly<Record<string, number>>
}

/** @param name distinguishes these events from all others: letters and digits */
export async function sendValidEvents(
  connection: CreatedConnection,
  name: string,
  { perSecond, seconds }: { perSecond: number; seconds: number },
): Promise<SentEvents> {
  const poster = createEventPoster({ sockets: SOCKETS, tries: TRIES })
  const refunds = makeRefunds(name, perSecond * seconds)
  const latenciesMs: number[] = []
  const post = async (some: readonly Refund[]): Promise<void> => {
    latenciesMs.push(...(await Promise.all(some.map(refund => poster.post(refund, connection)))))
  }
  await publishSteadily(post, refunds.length, perSecond, index => refunds[index]!)
  poster.stop()
  return { ids: refunds.map(({ id }) => `evt_${id}`), latenciesMs, failures: poster.failures }
}
