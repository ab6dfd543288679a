/** Deeds at a customer's billing accounts, with and without an operation that reports them. */
import type { ShownOperation } from '@backstop/contracts'
import { until } from '@backstop/kit/test'
import type { Chance } from '@backstop/simulator'
import { type Maker, nameByAmount, type Prepared, type Said } from './change-kind.ts'

/** The alerts that a deed can cause. */
export type Told = 'UNEXPECTED_ACTION' | 'REFUND_REJECTED' | 'drift.detected'

/** How the operation of an explained deed is reported. */
const WAYS = ['done_with_ref', 'done', 'begun', 'begun_then_done', 'begun_with_key'] as const
/** What exists instead of an explanation of an unexplained deed. `other_amount` only for refunds. */
const DECOYS = ['nothing', 'never_sent', 'other_amount'] as const

export interface Deed {
  readonly maker: Maker
  readonly number: number
  readonly report: (typeof WAYS)[number] | (typeof DECOYS)[number]
  /** Whether its events are lost. */
  readonly isLost: boolean
  /** The alert that it must cause; null for none. */
  readonly expected: Told | null
}

/** A finished deed, and all names that an alert may use for it. */
export interface Done extends Deed {
  readonly names: readonly string[]
}

export type IsRecorded = (ref: string) => boolean

export interface Shares {
  /** Share of unexplained deeds among all deeds, from 0 to 1. */
  readonly unexplained: number
  /** Share of deeds without any event among all deeds, from 0 to 1. */
  readonly lost: number
}

/** Whether it is judged. */
export function isJudged({ leaves, isInvoluntary }: Maker): boolean {
  return isInvoluntary !== true && leaves.some(kind => kind === 'refund' || kind === 'cancellation')
}

/**
 * Plans deeds at one account, in random order.
 * @param from number of the first deed
 */
export function planDeeds(
  makers: readonly Maker[],
  count: number,
  from: number,
  shares: Shares,
  chance: Chance,
): Deed[] {
  const kinds = makers.flatMap(maker => Array.from({ length: maker.share }, () => maker))
  const planned = Array.from({ length: count }, (_, index) => kinds[index % kinds.length] as Maker)
  const inAnyOrder = shuffled([...planned.keys()], chance)
  const able = (may: (maker: Maker) => boolean) => inAnyOrder.filter(index => may(planned[index] as Maker))
  const unexplained = new Set(able(isJudged).slice(0, Math.round(count * shares.unexplained)))
  // Half of the lost deeds are unexplained, so that they must alert.
  const losable = able(maker => maker.isLosable === true)
  const lostCount = Math.round(count * shares.lost)
  const mustShow = losable.filter(index => unexplained.has(index)).slice(0, lostCount / 2)
  const others = losable.filter(index => !unexplained.has(index)).slice(0, lostCount - mustShow.length)
  const lost = new Set([...mustShow, ...others])
  const deeds = planned.map((maker, index): Deed => {
    const isLost = lost.has(index)
    const common = { maker, number: from + index, isLost }
    if (unexplained.has(index)) return { ...common, report: decoyFor(maker, chance), expected: 'UNEXPECTED_ACTION' }
    return { ...common, report: wayFor(maker, isLost, chance), expected: maker.toldThough ?? null }
  })
  return shuffled(deeds, chance)
}

function decoyFor({ leaves }: Maker, chance: Chance): Deed['report'] {
  return oneOf(leaves.includes('refund') ? DECOYS : DECOYS.slice(0, 2), chance)
}

function wayFor(maker: Maker, isLost: boolean, chance: Chance): Deed['report'] {
  if (!isJudged(maker)) return 'nothing'
  // The later assertions require an operation that has ended, or that waits.
  if (maker.toldThough !== undefined || maker.reportedAs !== undefined) return 'done_with_ref'
  // Only the processor's events show a key, and the events of this deed are lost.
  return oneOf(maker.through.kind === 'processor' && !isLost ? WAYS : WAYS.slice(0, 4), chance)
}

/**
 * Does a deed, and reports about it.
 * @param isRecorded whether the product has recorded the object with this name: a change before the first read is never seen
 * @returns the deed with its names, and a promise that resolves after its later change
 */
export async function carryOut(deed: Deed, isRecorded: IsRecorded): Promise<{ done: Done; story: Promise<void> }> {
  const { maker, number, isLost } = deed
  const prepared = maker.prepare(number)
  const key = deed.report === 'begun_with_key' ? `key-${number}` : null
  const begun = await reportBefore(deed, prepared.said, key)
  const act = () => prepared.act(key)
  const { ref, names = [] } = isLost ? maker.through.unheard(act) : act()
  await reportAfter(deed, prepared.said, ref, begun)
  return { done: { ...deed, names: [ref, ...names] }, story: goOn(deed, prepared, ref, isRecorded) }
}

async function goOn({ maker }: Deed, { later }: Prepared, ref: string, isRecorded: IsRecorded): Promise<void> {
  if (later === undefined) return
  const at = Date.now() + 1_100
  const isTime = () => Date.now() >= at && (maker.through.kind !== 'subscription' || isRecorded(ref))
  await until(`the time for what becomes of ${maker.what} (${ref})`, isTime, { everyMs: 200, timeoutMs: 120_000 })
  later()
}

async function reportBefore(
  { maker, report }: Deed,
  said: Said | null,
  key: string | null,
): Promise<ShownOperation | undefined> {
  if (said === null) return undefined
  switch (report) {
    case 'begun':
    case 'begun_then_done':
      return maker.through.report({ ...said, state: 'executing' })
    case 'begun_with_key':
      // Only the key names it; a cancellation is also named by its subject.
      return maker.through.report({ kind: said.kind, subject: said.subject, idempotency_key: key, state: 'executing' })
    case 'never_sent':
      return maker.through.report({ ...said, state: 'requested' })
    case 'other_amount':
      return maker.through.report({ ...said, amount: (said.amount ?? 0) + 5, state: 'executing' })
    default:
      return undefined
  }
}

async function reportAfter(
  { maker, report }: Deed,
  said: Said | null,
  ref: string,
  begun: ShownOperation | undefined,
): Promise<void> {
  const state = maker.reportedAs ?? 'completed'
  if (report === 'done_with_ref') await maker.through.report({ ...said, state, provider_ref: ref })
  if (report === 'done') await maker.through.report({ ...said, state })
  if (report === 'begun_then_done' && begun !== undefined)
    await maker.through.follow(begun.operation_id, { to: state, provider_ref: ref })
}

/** The name of the deed that an alert is about. */
export function nameOf(action: { provider_ref: string | null; subject: string; amount: number | null }): string {
  return action.provider_ref ?? nameByAmount(action.subject, action.amount)
}

function oneOf<T>(list: readonly T[], chance: Chance): T {
  return list[Math.floor(chance.next() * list.length)] as T
}

/** The same items in random order. */
export function shuffled<T>(list: readonly T[], chance: Chance): T[] {
  return list
    .map(item => ({ item, at: chance.next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item)
}
