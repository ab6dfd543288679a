/**
 * The expected verdicts, as a function of all facts that arrived and of the alerts that were sent, without order and
 * without time. It shares only the types of the contracts with the product; test/architecture.test.ts checks that.
 */
import type { ActionKind, Operation, OutOfBand, ProviderKind } from '@backstop/contracts'

export interface ModelConnection {
  readonly id: string
  readonly madeAt: number
  readonly outOfBand: OutOfBand
  readonly isDeleted: boolean
}

/** One refund object in its final state. */
export interface ModelRefund {
  readonly id: string
  readonly provider: ProviderKind
  readonly gatewayId: string | null
  readonly creditNotes: readonly string[]
  readonly about: readonly string[]
  readonly amount: number
  readonly currency: string
  readonly date: number
  /** When its event was sent, and when it was changed for the first time that is known; infinite if unknown. */
  readonly reportedAt: number
  readonly changedAt: number
  /** True if a person chose its date. */
  readonly isDateChosen: boolean
  readonly key: string | null
  readonly request: string | null
  readonly through: readonly string[]
  readonly hasExpired: boolean
}

export interface ModelSnapshot {
  readonly asOf: number
  readonly phase: 'none' | 'scheduled' | 'executed'
  readonly left: ModelSnapshot['phase'] | null
  readonly requestedAt: number | null
  readonly endsAt: number | null
  /** True if the end was not scheduled before, so it was requested when it took effect. */
  readonly isAtOnce: boolean
  /** The verdict reason if the provider ended the subscription by itself; null if somebody requested the end. */
  readonly byItself: string | null
  readonly isPastDue: boolean
  readonly isBaseline: boolean
  readonly isOfEvent: boolean
  readonly key: string | null
  readonly request: string | null
}

export interface ModelExpectedChange {
  readonly kind: ActionKind
  readonly about: string | null
  readonly amount: number | null
  readonly from: number
  readonly until: number
}

/** The facts of an action that its verdict depends on. It was requested between `from` and `at`. */
export interface ModelAction {
  readonly name: string
  readonly kind: ActionKind
  readonly providers: readonly ProviderKind[]
  readonly ids: readonly string[]
  readonly gatewayIds: readonly string[]
  /** Ids of the credit notes that it pays out. */
  readonly creditNotes: readonly string[]
  readonly about: readonly string[]
  readonly amount: number | null
  readonly currency: string | null
  readonly from: number
  readonly at: number
  /** The latest time at which it can have been made. */
  readonly madeBy: number
  readonly keys: readonly string[]
  readonly requests: readonly string[]
  readonly through: readonly string[]
  readonly setBefore: boolean
  readonly ended: string | null
}

/**
 * The names of one charge at the processor. If a charge and an intent are linked one to one, each adds the other's
 * name. An intent with several charges adds none.
 */
function namesOf(one: ModelRefund, named: readonly (readonly string[])[]): readonly string[] {
  if (one.provider !== 'processor') return one.about
  const partners = one.about.flatMap(name => {
    const linked = named.filter(about => about.includes(name)).flat()
    const others = [...new Set(linked)].filter(other => other !== name)
    return others.length === 1 ? others : []
  })
  return [...one.about, ...partners]
}

/**
 * Each refund once: the biller's object of a refund through its gateway is joined to the gateway's object.
 * @param totals the names in each total of a charge
 */
export function refundsOf(reported: readonly ModelRefund[], totals: readonly (readonly string[])[]): ModelAction[] {
  const named = [...reported.filter(({ provider }) => provider === 'processor').map(({ about }) => about), ...totals]
  const isAt = (biller: ModelRefund, gateway: ModelRefund) => biller.gatewayId === gateway.id && biller !== gateway
  return reported
    .filter(one => !reported.some(gateway => isAt(one, gateway)))
    .map(one => {
      const all = [one, ...reported.filter(biller => isAt(biller, one))]
      const proved = ({ reportedAt, changedAt }: ModelRefund) => (reportedAt < Infinity ? reportedAt : changedAt)
      const at = Math.min(...all.map(each => (each.isDateChosen ? proved(each) : each.date)))
      return {
        name: all
          .map(each => each.id)
          .sort()
          .join('='),
        kind: 'refund',
        providers: all.map(each => each.provider),
        ids: all.map(each => each.id),
        gatewayIds: all.flatMap(each => each.gatewayId ?? []),
        creditNotes: all.flatMap(each => each.creditNotes),
        about: all.flatMap(each => namesOf(each, named)),
        amount: one.amount,
        currency: one.currency,
        from: at,
        at,
        madeBy: Math.min(...all.map(each => Math.max(each.date, proved(each)))),
        keys: all.flatMap(each => each.key ?? []),
        requests: all.flatMap(each => each.request ?? []),
        through: all.flatMap(each => each.through),
        setBefore: false,
        ended: all.some(each => each.hasExpired) ? 'authorization_expired' : null,
      }
    })
}

const DAY = 86_400_000
const HOUR = 3_600_000

/**
 * The cancellations of one subscription. One ends when a snapshot shows no end, or when another request brings the end
 * forward by an hour or more.
 */
export function cancellationsOf(
  id: string,
  provider: ProviderKind,
  reported: readonly ModelSnapshot[],
  by: ModelConnection,
): ModelAction[] {
  const turns: { shown: ModelSnapshot[]; after: number | null; late: boolean; not: (number | null)[] }[] = []
  let running: { at: number | null; late: boolean } | null = { at: null, late: false }
  for (const one of reported.toSorted((a, b) => a.asOf - b.asOf)) {
    if (one.left === 'none' && one.phase !== 'none') running = { at: one.asOf - 0.5, late: false }
    if (one.phase === 'none') running = { at: one.asOf, late: one.isPastDue }
    else if (running !== null) {
      turns.push({ shown: [one], after: running.at, late: running.late, not: [] })
      running = null
    } else {
      const turn = turns.at(-1)
      const last = turn?.shown.at(-1)
      if (turn === undefined || last === undefined) continue
      const isSooner = last.phase === 'scheduled' && (one.endsAt ?? Infinity) <= (last.endsAt ?? 0) - HOUR
      const isKept = last.requestedAt !== null && last.requestedAt === one.requestedAt
      const isHis = isKept && (provider !== 'subscription' || one.phase === 'scheduled')
      if (!isSooner || isHis) turn.shown.push(one)
      else {
        const not = [...turn.not, ...turn.shown.map(each => each.requestedAt)]
        turns.push({ shown: [one], after: last.asOf, late: last.isPastDue, not })
      }
    }
  }
  return turns.map(({ shown: all, after, late, not }) => {
    const isOther = (one: ModelSnapshot) => one.requestedAt !== null && not.includes(one.requestedAt)
    const shown = all.map(one => (isOther(one) ? { ...one, requestedAt: null, isAtOnce: true } : one))
    const first = shown[0] as ModelSnapshot
    const dunned = late && first.phase === 'executed' && first.requestedAt === null
    const asked = shown.filter(one => one.byItself === null)
    const decisive = asked.length > 0 ? asked : shown
    const times = decisive.flatMap(one => one.requestedAt ?? [])
    const at = times.length > 0 ? Math.min(...times) : (decisive[0]?.asOf ?? 0)
    const isOwn = dunned || asked.length === 0
    return {
      name: `${id}@${at}`,
      kind: 'cancellation',
      providers: [provider],
      ids: [],
      gatewayIds: [],
      creditNotes: [],
      about: [id],
      amount: null,
      currency: null,
      from: times.length > 0 || decisive[0]?.isAtOnce ? at : Math.max(after ?? 0, at - DAY),
      at,
      madeBy: at,
      keys: first.key === null ? [] : [first.key],
      requests: first.request === null ? [] : [first.request],
      through: [by.id],
      setBefore:
        times.length === 0 &&
        decisive[0]?.isBaseline === true &&
        !decisive[0].isOfEvent &&
        (after ?? 0) < by.madeAt &&
        (provider === 'processor' || second(decisive[0].asOf) < second(by.madeAt)),
      ended: !isOwn
        ? null
        : dunned
          ? 'involuntary_end'
          : (shown.findLast(one => one.byItself !== 'plan_ended')?.byItself ?? 'plan_ended'),
    }
  })
}

const second = (ms: number) => Math.floor(ms / 1000)

const STRENGTHS = [
  'provider_ref_matches',
  'request_id_matches',
  'idempotency_key_matches',
  'credit_note_matches',
  'amount_and_time_match',
]

function claim(action: ModelAction, operation: Operation): { strength: number; distance: number } | null {
  const begun = Date.parse(operation.executing_at ?? '')
  if (Number.isNaN(begun) || operation.unapproved != null || operation.kind !== action.kind) return null
  // An end that the provider causes takes no operation; a released authorization only one that names it.
  if (action.ended !== null && action.kind === 'cancellation') return null
  const ref = operation.provider_ref ?? ''
  if (!action.providers.includes(operation.provider) && !action.gatewayIds.includes(ref)) return null
  const distance = begun < action.from ? action.from - begun : Math.max(0, begun - action.at)
  if (action.kind === 'refund' && ref !== '' && !action.about.includes(ref)) {
    return [...action.ids, ...action.gatewayIds].includes(ref) ? { strength: 0, distance } : null
  }
  if (action.requests.includes(operation.provider_request_id ?? '')) return { strength: 1, distance }
  if (action.keys.includes(operation.idempotency_key ?? '')) return { strength: 2, distance }
  if (![operation.subject, ref].some(name => action.about.includes(name))) return null
  const namesCreditNote = action.creditNotes.includes(ref)
  const [asked, shown] = [operation.amount ?? 0, action.amount ?? 0]
  const isOther = namesCreditNote ? shown > asked : shown !== asked
  const isOtherMoney = (operation.currency ?? action.currency) !== action.currency
  if (action.kind === 'refund' && (isOther || isOtherMoney)) return null
  const isInTime = Math.floor((begun - 120_000) / 1000) * 1000 <= action.at && action.from <= lastActionAt(operation)
  if (!isInTime || (action.ended !== null && !namesCreditNote)) return null
  return { strength: namesCreditNote ? 3 : 4, distance }
}

/** The alerts about one action that were sent. */
export interface AlertState {
  /** True if its alert is still open. */
  readonly isAlerted: boolean
  /** The operation that resolved its alert. */
  readonly explainedBy: string | null
  /** True if its alert was resolved without an operation. */
  readonly isClosed: boolean
}

/**
 * The order of claims that are equally strong. First: the operation that resolved the action's alert. Last: an action that
 * has alerted, whether or not its alert is resolved.
 */
function rankByAlert({ name }: ModelAction, operation: Operation, heard: ReadonlyMap<string, AlertState>): number {
  const { isAlerted, isClosed, explainedBy } = heard.get(name) ?? {}
  if (isAlerted || isClosed) return 2
  return explainedBy === operation.operation_id ? 0 : 1
}

/** The time after which an operation without a provider_ref can have made no action that is still unknown. */
export function lastActionAt({ executing_at, ended_at }: Operation): number {
  return ended_at === null ? Date.parse(executing_at ?? '') + DAY : Date.parse(ended_at) + 15 * 60_000
}

/**
 * True if an operation did not make an action that it explained before, because it does not match any more, or matches
 * another action better.
 */
export function isDisproved(action: ModelAction, operation: Operation, actions: readonly ModelAction[]): boolean {
  const own = claim(action, operation)
  return own === null || actions.some(other => (claim(other, operation)?.strength ?? Infinity) < own.strength)
}

/** The verdict on each action, as `<name> <verdict> <reason> <operation>`. */
export function verdictsOn(
  actions: readonly ModelAction[],
  operations: readonly Operation[],
  expectedChanges: readonly ModelExpectedChange[],
  connections: readonly ModelConnection[],
  heard: ReadonlyMap<string, AlertState>,
): string[] {
  const claims = actions
    .flatMap(action => operations.map(operation => ({ action, operation, ...claim(action, operation) })))
    .filter(one => one.strength !== undefined)
    .filter(one => STRENGTHS[one.strength ?? 0] !== 'amount_and_time_match' || !heard.get(one.action.name)?.isClosed)
    .map(one => ({ ...one, rank: rankOf(one, heard) }))
    .sort((a, b) => {
      const by = a.rank.findIndex((value, index) => value !== b.rank[index])
      if (by >= 0) return (a.rank[by] ?? 0) - (b.rank[by] ?? 0)
      return `${a.action.name} ${a.operation.operation_id}` < `${b.action.name} ${b.operation.operation_id}` ? -1 : 1
    })
  const taken = new Map<ModelAction, string>()
  // The amount that an operation can still explain: 0 after one action, or the unpaid rest if it names a credit note.
  const left = new Map<Operation, number>()
  for (const { action, operation, strength } of claims) {
    const namesCreditNote = STRENGTHS[strength ?? 0] === 'credit_note_matches'
    // An expired authorization moved no money, so it uses nothing of the operation's amount.
    const amount = namesCreditNote && action.ended === null ? (action.amount ?? 0) : 0
    const rest = left.get(operation) ?? (namesCreditNote ? (operation.amount ?? 0) : 0)
    if (taken.has(action) || rest < amount || (!namesCreditNote && left.has(operation))) continue
    taken.set(action, `explained ${STRENGTHS[strength ?? 0]} ${operation.operation_id}`)
    left.set(operation, namesCreditNote ? rest - amount : 0)
  }
  const acted = operations.some(operation => operation.executing_at !== null)
  return actions
    .map(
      action =>
        `${action.name} ${taken.get(action) ?? verdictWithoutOperation(action, expectedChanges, connections, acted)}`,
    )
    .sort()
}

function rankOf(
  one: { action: ModelAction; operation: Operation; strength?: number; distance?: number },
  heard: ReadonlyMap<string, AlertState>,
): number[] {
  const isPart = STRENGTHS[one.strength ?? 0] === 'credit_note_matches' && one.action.amount !== one.operation.amount
  const heardRank = rankByAlert(one.action, one.operation, heard)
  return [one.strength ?? 0, heardRank, Number(isPart), one.distance ?? 0, one.action.at]
}

/** The verdict on an action without an operation. */
function verdictWithoutOperation(
  { kind, at, madeBy, about, amount, through, setBefore, ended }: ModelAction,
  expectedChanges: readonly ModelExpectedChange[],
  connections: readonly ModelConnection[],
  acted: boolean,
): string {
  const by = connections.filter(({ id }) => through.includes(id))
  if (by.every(({ madeAt }) => second(madeBy) < second(madeAt))) return 'explained made_before_connection null'
  if (setBefore) return 'explained scheduled_before null'
  if (ended !== null) return `not_alerted ${ended} null`
  const isExpected = expectedChanges.some(
    expectedChange =>
      expectedChange.kind === kind &&
      (expectedChange.about === null || about.includes(expectedChange.about)) &&
      (expectedChange.amount === null || expectedChange.amount === amount) &&
      second(expectedChange.from - 120_000) * 1000 <= at &&
      at < expectedChange.until,
  )
  if (isExpected) return 'explained expected_change_matches null'
  const asked = by.filter(({ isDeleted }) => !isDeleted).map(({ outOfBand }) => outOfBand)
  if (asked.length === 0) return 'not_alerted connection_deleted null'
  if (asked.includes('alert') || (asked.includes('auto') && acted)) return 'unexplained nothing_explains_it null'
  return `not_alerted ${asked.includes('auto') ? 'auto_before_first_operation' : 'out_of_band_ignore'} null`
}
