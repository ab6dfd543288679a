/** Plans and makes changes at a customer's billing accounts, with and without operations that report them. */
import type { ShownOperation } from '@backstop/contracts'
import { until } from '@backstop/kit/test'
import type { Chance } from '@backstop/simulator'
import { type ChangeKind, nameByAmount, type PreparedChange, type ReportedOperation } from './change-kind.ts'

/** The alerts that a change can cause. */
type ExpectedAlert = 'UNEXPECTED_ACTION' | 'REFUND_REJECTED' | 'drift.detected'

/** The ways to report the operation of an explained change. */
const EXPLAINING_REPORTS = ['done_with_ref', 'done', 'begun', 'begun_then_done', 'begun_with_key'] as const
/** The reports about an unexplained change, none of which explains it. `other_amount` is only for refunds. */
const OTHER_REPORTS = ['nothing', 'never_sent', 'other_amount'] as const

/** A change that a test will make, with the alert that it must cause. */
export interface PlannedChange {
  readonly kind: ChangeKind
  readonly number: number
  readonly report: (typeof EXPLAINING_REPORTS)[number] | (typeof OTHER_REPORTS)[number]
  /** True if the events of the change are lost. */
  readonly areEventsLost: boolean
  /** The alert that the change must cause; null if it must not alert. */
  readonly expectedAlert: ExpectedAlert | null
}

/** A change that was made, with all names that an alert may use for it. */
export interface MadeChange extends PlannedChange {
  readonly names: readonly string[]
}

/** True if the product has recorded the action with this provider's id. */
export type IsRecorded = (ref: string) => boolean

export interface Shares {
  /** Share of unexplained changes among all changes, from 0 to 1. */
  readonly unexplained: number
  /** Share of changes whose events are lost among all changes, from 0 to 1. */
  readonly lost: number
}

/** True if the product gives a verdict on changes of this kind. */
export function isJudged({ records, isInvoluntary }: ChangeKind): boolean {
  return isInvoluntary !== true && records.some(record => record === 'refund' || record === 'cancellation')
}

/**
 * Plans changes at one account, in random order. The same chance gives the same plan.
 * @param from number of the first change
 */
export function planChanges(
  kinds: readonly ChangeKind[],
  count: number,
  from: number,
  shares: Shares,
  chance: Chance,
): PlannedChange[] {
  const weighted = kinds.flatMap(kind => Array.from({ length: kind.weight }, () => kind))
  const planned = Array.from({ length: count }, (_, index) => weighted[index % weighted.length] as ChangeKind)
  const shuffledIndexes = shuffled([...planned.keys()], chance)
  const indexesWhere = (isWanted: (kind: ChangeKind) => boolean) =>
    shuffledIndexes.filter(index => isWanted(planned[index] as ChangeKind))
  const unexplained = new Set(indexesWhere(isJudged).slice(0, Math.round(count * shares.unexplained)))
  // Half of the changes with lost events are unexplained, so that they must alert.
  const losable = indexesWhere(kind => kind.canLoseEvents === true)
  const lostCount = Math.round(count * shares.lost)
  const lostUnexplained = losable.filter(index => unexplained.has(index)).slice(0, lostCount / 2)
  const lostExplained = losable.filter(index => !unexplained.has(index)).slice(0, lostCount - lostUnexplained.length)
  const lost = new Set([...lostUnexplained, ...lostExplained])
  const changes = planned.map((kind, index): PlannedChange => {
    const areEventsLost = lost.has(index)
    const common = { kind, number: from + index, areEventsLost }
    if (unexplained.has(index))
      return { ...common, report: chooseOtherReport(kind, chance), expectedAlert: 'UNEXPECTED_ACTION' }
    const report = chooseReport(kind, areEventsLost, chance)
    return { ...common, report, expectedAlert: kind.alertDespiteOperation ?? null }
  })
  return shuffled(changes, chance)
}

function chooseOtherReport({ records }: ChangeKind, chance: Chance): PlannedChange['report'] {
  return oneOf(records.includes('refund') ? OTHER_REPORTS : OTHER_REPORTS.slice(0, 2), chance)
}

function chooseReport(kind: ChangeKind, areEventsLost: boolean, chance: Chance): PlannedChange['report'] {
  if (!isJudged(kind)) return 'nothing'
  // The test expects a final state of these operations, so they must be reported with their state.
  if (kind.alertDespiteOperation !== undefined || kind.finalState !== undefined) return 'done_with_ref'
  // A report with only a key explains a change only if an event of the processor has the key.
  const hasKey = kind.connection.kind === 'processor' && !areEventsLost
  return oneOf(hasKey ? EXPLAINING_REPORTS : EXPLAINING_REPORTS.slice(0, 4), chance)
}

/**
 * Makes a change, and reports its operation.
 * @param isRecorded tells when a later change may be made, because the product does not see a state before its first read
 * @returns the change with its names, and a promise that resolves after its later change
 */
export async function makeChange(
  change: PlannedChange,
  isRecorded: IsRecorded,
): Promise<{ made: MadeChange; laterChange: Promise<void> }> {
  const { kind, number, areEventsLost } = change
  const prepared = kind.prepare(number)
  const key = change.report === 'begun_with_key' ? `key-${number}` : null
  const begun = await reportBefore(change, prepared.operation, key)
  const make = () => prepared.make(key)
  const { ref, names = [] } = areEventsLost ? kind.connection.withLostEvents(make) : make()
  await reportAfter(change, prepared.operation, ref, begun)
  const laterChange = makeLaterChange(change, prepared, ref, isRecorded)
  return { made: { ...change, names: [ref, ...names] }, laterChange }
}

async function makeLaterChange(
  { kind }: PlannedChange,
  prepared: PreparedChange,
  ref: string,
  isRecorded: IsRecorded,
): Promise<void> {
  if (prepared.makeLaterChange === undefined) return
  const at = Date.now() + 1_100
  const isTime = () => Date.now() >= at && (kind.connection.kind !== 'subscription' || isRecorded(ref))
  await until(`the time for the later change of ${kind.title} (${ref})`, isTime, { everyMs: 200, timeoutMs: 120_000 })
  prepared.makeLaterChange()
}

/** Reports the operation before the change, if the plan says so. */
async function reportBefore(
  { kind: { connection }, report }: PlannedChange,
  operation: ReportedOperation | null,
  key: string | null,
): Promise<ShownOperation | undefined> {
  if (operation === null) return undefined
  switch (report) {
    case 'begun':
    case 'begun_then_done':
      return connection.report({ ...operation, state: 'executing' })
    case 'begun_with_key':
      // The report has no amount, so that only the key explains a refund. A cancellation is also explained by its subject.
      return connection.report({
        kind: operation.kind,
        subject: operation.subject,
        idempotency_key: key,
        state: 'executing',
      })
    case 'never_sent':
      return connection.report({ ...operation, state: 'requested' })
    case 'other_amount':
      return connection.report({ ...operation, amount: (operation.amount ?? 0) + 5, state: 'executing' })
    default:
      return undefined
  }
}

/** Reports the operation, or its final state, after the change, if the plan says so. */
async function reportAfter(
  { kind: { connection, finalState }, report }: PlannedChange,
  operation: ReportedOperation | null,
  ref: string,
  begun: ShownOperation | undefined,
): Promise<void> {
  const state = finalState ?? 'completed'
  if (report === 'done_with_ref') await connection.report({ ...operation, state, provider_ref: ref })
  if (report === 'done') await connection.report({ ...operation, state })
  if (report === 'begun_then_done' && begun !== undefined)
    await connection.reportTransition(begun.operation_id, { to: state, provider_ref: ref })
}

/** The name of the change that an alert is about. */
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
