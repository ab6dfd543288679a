import type { Random } from '../world/random.ts'

/** What the world around the product does in one run: probabilities, and numbers of events. Zero means never. */
export interface Habits {
  /** Probability that the notifications of a change are lost. */
  readonly lost: number
  /** Probability that a biller's notification has false values. Its notifications are not signed. */
  readonly falseValues: number
  /** Probability that software repeats an answered report with the same key, as after a lost answer. */
  readonly reportRepeats: number
  /** Calls that a provider accepts within ten seconds; 0 for no limit. */
  readonly rateLimit: number
  /** Notifications about objects that do not exist at the provider. */
  readonly unknownObjects: number
  /** Outages of a provider's API, and times in which its answers are older than its events. */
  readonly outages: number
  readonly lags: number
  /** Outages of a receiver. */
  readonly receiverOutages: number
  /** Receivers that answer 410 from some time on. */
  readonly removedReceivers: number
  /** Changes that people make through the API. */
  readonly people: number
  /** Accounts that are disconnected and connected again. */
  readonly reconnects: number
  /** Accounts that are disconnected for good. Their personal data must be erased, for which a run lasts ten minutes more. */
  readonly departures: number
  /** Bursts of unexplained changes. */
  readonly storms: number
  /** Groups of equal changes of which an expected change covers only some. */
  readonly cappedGroups: number
  /** Refunds that software repeats although they had succeeded. */
  readonly doubledRefunds: number
  /** Budgets under which programs request operations at the same time. */
  readonly budgets: number
  /** Operations that several programs end at the same time. */
  readonly contests: number
  /** Authentic notifications that cannot be used. */
  readonly unusableEvents: number
  /** Notifications that somebody sends who does not know the secret. */
  readonly forgeries: number
  /** Changes that are made when the faults have ended: everything must be in time again. */
  readonly calmChanges: number
  /** Bursts of a leaked key when the faults have ended. */
  readonly leakedKeys: number
  /** Keys with the role of a canary that somebody uses. */
  readonly canaries: number
  /** Groups of equal refunds of an actor or a customer, which an expected change is limited to. */
  readonly limitedGroups: number
  /** Customers whom people ask to erase. A run then lasts 14 minutes more. */
  readonly erasures: number
}

/** Draws what the world does in a run. */
export function drawHabits(random: Random): Habits {
  const maybe = (probability: number, draw: () => number) => (random.chance(probability) ? draw() : 0)
  return {
    lost: maybe(0.4, () => random.pick([0.1, 0.4])),
    falseValues: maybe(0.3, () => 0.4),
    reportRepeats: maybe(0.4, () => 0.3),
    rateLimit: maybe(0.2, () => random.between(2, 10)),
    unknownObjects: maybe(0.2, () => random.between(1, 2)),
    outages: maybe(0.3, () => random.between(1, 2)),
    lags: maybe(0.3, () => random.between(1, 3)),
    receiverOutages: maybe(0.3, () => random.between(1, 2)),
    removedReceivers: maybe(0.15, () => 1),
    people: maybe(0.6, () => random.between(1, 6)),
    reconnects: maybe(0.15, () => 1),
    storms: maybe(0.06, () => 1),
    cappedGroups: maybe(0.2, () => 1),
    budgets: maybe(0.3, () => 1),
    contests: maybe(0.3, () => 1),
    unusableEvents: maybe(0.15, () => random.between(1, 3)),
    calmChanges: maybe(0.2, () => 2),
    forgeries: maybe(0.2, () => 1),
    departures: maybe(0.02, () => 1),
    doubledRefunds: maybe(0.3, () => random.between(1, 2)),
    leakedKeys: maybe(0.06, () => 1),
    canaries: maybe(0.2, () => 1),
    limitedGroups: maybe(0.25, () => 1),
    erasures: maybe(0.05, () => random.between(1, 2)),
  }
}

/** A world in which everything works as it should, and people do nothing. */
export const NO_HABITS: Habits = {
  lost: 0,
  falseValues: 0,
  reportRepeats: 0,
  rateLimit: 0,
  unknownObjects: 0,
  outages: 0,
  lags: 0,
  receiverOutages: 0,
  removedReceivers: 0,
  people: 0,
  reconnects: 0,
  storms: 0,
  cappedGroups: 0,
  doubledRefunds: 0,
  leakedKeys: 0,
  canaries: 0,
  limitedGroups: 0,
  budgets: 0,
  contests: 0,
  unusableEvents: 0,
  calmChanges: 0,
  forgeries: 0,
  departures: 0,
  erasures: 0,
}
