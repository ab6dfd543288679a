import type { createBiller } from '@backstop/simulator'
import { prepareRefund } from '../../setup/planned-changes/biller.ts'
import { wait } from '../world/agenda.ts'
import type { Change } from './accounts.ts'
import type { Json } from './api-user.ts'
import type { Customer } from './customer.ts'
import type { Deed } from './truth.ts'
import type { World } from './world.ts'

const LOOKS_EVERY_MS = 2_000
const LOOKS_FOR_MS = 120_000

/** Refunds that an API key of the subscription biller makes. The biller names the key of each. */
export function refundsByKey({ changes }: Pick<Customer, 'changes'>, keyName: string): Change {
  const change = changes.find(({ kind }) => kind.title === 'a refund of an invoice')!
  const biller = change.accounts[0]!.account as ReturnType<typeof createBiller>
  const by = { source: 'api', user: keyName } as const
  const title = `a refund by the key "${keyName}"`
  return { ...change, kind: { ...change.kind, title, prepare: number => prepareRefund(biller, number, by) } }
}

/** Waits until the product lists a change with its actor. @returns the id of the actor; undefined if that takes too long */
export async function untilNamed({ clock, api }: World, { projectId, ref }: Deed): Promise<string | undefined> {
  const untilMs = clock.now + LOOKS_FOR_MS
  while (clock.now < untilMs) {
    await wait(clock, LOOKS_EVERY_MS)
    const { data } = await api.get(`/v1/actions?project_id=${projectId}&provider_ref=${ref}`)
    const named = (data as Json[]).find(({ actor_id }) => typeof actor_id === 'string')
    if (named !== undefined) return String(named.actor_id)
  }
  return undefined
}
