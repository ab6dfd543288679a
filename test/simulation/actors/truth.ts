import { type LimitInterval, periodOf } from '@backstop/contracts'

/** When something happened in the product: between the request for it and the API's answer. Undefined until it is answered. */
export interface Moment {
  readonly fromMs: number
  toMs?: number | undefined
}

/** Something that lets the product stay silent about a change, while it holds at the second look. */
export interface Ground {
  /** For people who read a failure. */
  readonly reason: string
  /** Whether it explains the change. Then an alert that was sent before is resolved. */
  readonly explains: boolean
  readonly begins: Moment
  /** Undefined if it holds from then on. */
  ends?: Moment | undefined
  /** Whether the product may never hear of the change, so that it need not list it. */
  readonly mayHide?: true
  /** Whether it is the setting `out_of_band`. It holds back only alerts that nothing explains a change, and not those about canaries. */
  readonly isSetting?: true
}

/** Why a change may stay hidden or unexplained after its account was disconnected and connected again. */
export const OLDER_THAN_ITS_CONNECTION = 'it is older than its connection'

/** An account at a provider. */
export interface AccountTruth {
  readonly projectId: string
  readonly kind: string
  /** Grounds for all its changes: a silence, a setting, a deleted connection. */
  readonly grounds: Ground[]
  /** When an operation acted on it first. */
  acted?: Moment
}

/** A change that somebody made at a provider. The judge knows it; the product has to find out. */
export interface Deed {
  readonly projectId: string
  /** For people who read a failure. */
  readonly title: string
  /** The provider's id of the change. */
  readonly ref: string
  /** All names that an alert may use for it. */
  readonly names: readonly string[]
  /** The accounts that show it: two for a refund of a biller through its gateway. */
  readonly accounts: readonly AccountTruth[]
  /** When the provider carried it out, in milliseconds since the epoch. */
  readonly atMs: number
  /** Whether the product gives a verdict on it. Other changes, such as pauses and disputes, never alert. */
  readonly hasVerdict: boolean
  /** Whether it alerts if there is no ground for silence. */
  readonly mustAlert: boolean
  /** Grounds for this change alone: an operation, an expected change, a lost notification. */
  readonly grounds: Ground[]
}

/** Equal changes, of which an expected change covers only some. Which ones is not fixed. */
export interface CappedGroup {
  readonly deeds: readonly Deed[]
  /** How many of them the expected change explains, in total or in each period. */
  readonly covered: number
  readonly interval?: LimitInterval | undefined
}

/** The changes of a group, by the periods in which the expected change counts them. */
export function byPeriod({ deeds, interval }: Pick<CappedGroup, 'deeds' | 'interval'>): readonly (readonly Deed[])[] {
  if (interval === undefined) return [deeds]
  return [...Map.groupBy(deeds, ({ atMs }) => periodOf(interval, atMs).firstDay).values()]
}

/** Two equal refunds of one payment, of which the second repeats the first. Operations explain both. */
export interface DoubledRefund {
  readonly deeds: readonly [Deed, Deed]
  /** Whether their account has the rule that reports it. */
  readonly hasRule: boolean
}

/** Refunds of a leaked key: many within a second, that nothing explains. */
export interface LeakedKey {
  readonly connectionId: string
  readonly account: AccountTruth
  readonly deeds: readonly Deed[]
  /** Whether its connection has the burst alarm. */
  readonly hasAlarm: boolean
}

/** An API key with the role of a canary, and its changes since. */
export interface CanaryTruth {
  readonly projectId: string
  /** When it got the role. */
  readonly role: Moment
  /** The provider's ids of the changes. */
  readonly refs: string[]
}

/** An alert channel and the time during which it works. */
export interface ChannelTruth {
  readonly channelId: string
  readonly projectId: string
  /** The name of its receiver's host, as in `Received`. */
  readonly host: string
  readonly events: readonly string[]
  readonly begins: Moment
  /** When it was deleted or answered 410, which disables it. */
  ends?: Moment
}

/** A message that a receiver took. */
export interface Received {
  readonly atMs: number
  /** The name of the receiver's host. */
  readonly channel: string
  readonly webhookId: string
  readonly body: string
  /** False if the receiver took it and its answer was lost. */
  readonly isAnswered: boolean
}

/** An attempt to deliver a message that its receiver refused or did not answer, or that did not reach it. */
export interface FailedAttempt {
  /** The name of the receiver's host. */
  readonly channel: string
  readonly webhookId: string
  readonly body: string
}

/** A message in a team chat. */
export interface ChatMessage {
  readonly atMs: number
  readonly host: string
  readonly body: string
}

/** A change of an incident by a person that the API confirmed. */
export interface Intervention {
  readonly incidentId: string
  readonly kind: 'acknowledge' | 'resolve' | 'comment'
  readonly at: Moment
}

/** A notification that ingress answered with success. */
export interface AcceptedNotification {
  readonly connectionId: string
  readonly eventId: string
  readonly atMs: number
  /** The subscription whose payment it shows as late, at the reseller. */
  readonly latePaymentOf?: string | undefined
}

/** The report of an operation, or of its next state, that the API confirmed. */
export interface ConfirmedReport {
  readonly operationId: string
  readonly state: string
  /** The state that the report gave; the operation may have one that came later. */
  readonly reported?: string | undefined
  /** The provider's id of the change, if the report gave it. */
  readonly providerRef?: string | undefined
}

/** A budget, and the operations of one amount that were requested under it at the same time. */
export interface BudgetTruth {
  readonly projectId: string
  readonly budgetId: string
  /** Minor units. */
  readonly cap: number
  readonly amount: number
  /** Operations that the API granted and refused, and those without an answer. */
  granted: number
  refused: number
  open: number
}

/** Everything that happened in the world. */
export interface Truth {
  readonly accepted: AcceptedNotification[]
  readonly reports: ConfirmedReport[]
  readonly budgets: BudgetTruth[]
  /** Ids of authentic notifications that cannot be used. */
  readonly unusable: string[]
  /** How many reports were sent and not confirmed. Each of them may have made an operation. */
  unconfirmedReports: number
  /** Secrets that only the answer that showed them may have. */
  readonly secrets: string[]
  /** Connections that were deleted for good. */
  readonly departed: { readonly connectionId: string; readonly atMs: number }[]
  /** Customers whom people asked to erase. */
  readonly erased: { readonly projectId: string; readonly email: string; readonly atMs: number }[]
  readonly deeds: Deed[]
  readonly capped: CappedGroup[]
  readonly doubled: DoubledRefund[]
  readonly leaked: LeakedKey[]
  readonly canaries: CanaryTruth[]
  readonly channels: ChannelTruth[]
  readonly received: Received[]
  readonly failedAttempts: FailedAttempt[]
  readonly chats: ChatMessage[]
  readonly interventions: Intervention[]
  /** Faults that the product must never show: a handler that threw, a process that gave up. */
  readonly wrongs: string[]
}

export function newTruth(): Truth {
  return {
    accepted: [],
    reports: [],
    budgets: [],
    unusable: [],
    unconfirmedReports: 0,
    secrets: [],
    departed: [],
    erased: [],
    deeds: [],
    capped: [],
    doubled: [],
    leaked: [],
    canaries: [],
    channels: [],
    received: [],
    failedAttempts: [],
    chats: [],
    interventions: [],
    wrongs: [],
  }
}

/** Two times, in milliseconds since the epoch. */
interface Span {
  readonly earliestMs: number
  readonly latestMs: number
}

/** What the product has to do about a change whose second look is between two times. `either` if that depends on what came first. */
export function expectationOf(deed: Deed, { earliestMs, latestMs }: Span): 'alert' | 'silence' | 'either' {
  if (!deed.mustAlert) return 'either'
  const surelyHolds = ({ begins, ends }: Ground) =>
    begins.toMs !== undefined && begins.toMs <= earliestMs && (ends === undefined || ends.fromMs > latestMs)
  const isPossible = (ground: Ground) => mayHold(ground, { earliestMs, latestMs })
  // The stricter of two accounts decides, so a ground must hold for both.
  const isSilent = deed.grounds.some(surelyHolds) || deed.accounts.every(({ grounds }) => grounds.some(surelyHolds))
  if (isSilent) return 'silence'
  return [...deed.grounds, ...deed.accounts.flatMap(({ grounds }) => grounds)].some(isPossible) ? 'either' : 'alert'
}

/** Whether a ground may hold at some moment between two times. */
export function mayHold({ begins, ends }: Ground, { earliestMs, latestMs }: Span): boolean {
  return begins.fromMs <= latestMs && (ends?.toMs === undefined || ends.toMs >= earliestMs)
}

/** Whether something surely explains the change, so that an alert about it has to be resolved. */
export function isExplained({ grounds }: Deed): boolean {
  return grounds.some(({ explains, begins, ends }) => explains && begins.toMs !== undefined && ends === undefined)
}
