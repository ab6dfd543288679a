import {
  type Action,
  type Burst,
  movedNoMoney,
  type Origin,
  type OriginChannel,
  type ProviderKind,
  type RecordKind,
  type Storm,
} from '@backstop/contracts'
import type { NextStep } from './alert-description.ts'
import { type Many, manyOf } from './describe-many.ts'
import { nounOfSubject, toOneLine } from './wording.ts'

/** The facts of an unexplained action on which its next steps depend. */
type Made = Pick<
  Action,
  'provider' | 'kind' | 'state' | 'authorization_released' | 'account' | 'origin' | 'mode' | 'provider_created_at'
>

/** `unknown`: the provider does not report the channel. */
type Channel = OriginChannel | 'unknown'

interface Maker {
  /** `the key "nightly-job"`, or `this key` if the provider does not name it. */
  readonly key: string
  readonly user: string | null
  /** When the action was made, as an ISO time. */
  readonly at: string
  /** `payment` or `subscription`, if needed with words that say which one. */
  readonly noun: string
  /** The processor's id of the request; null if it is unknown. */
  readonly requestId: string | null
}

/**
 * How to find and stop the origin of an action, in the words of each provider's dashboard. The paths are from docs.stripe.com/keys,
 * docs.stripe.com/workbench/guides (which replaces docs.stripe.com/development/dashboard/request-logs), developer.paddle.com/api-reference/about/authentication
 * and chargebee.com/docs.
 */
const STOP_STEPS: Record<ProviderKind, Record<Channel, (maker: Maker) => readonly string[]>> = {
  processor: {
    api: ({ key, at, requestId }) =>
      key === UNNAMED_KEY
        ? [
            `In the provider's dashboard, open ${REQUEST_LOGS} and look for the request ${
              requestId ?? `at ${at}`
            }. It shows which API key or which person made it.`,
            'If an API key made it: open Developers > API keys, replace that key (“Roll” or “Rotate”) and let the old one expire now.',
            'If a person made it: ask them. If they did not do it, remove their access under Settings > Team.',
          ]
        : [
            `In the provider's dashboard, open Developers > API keys, replace ${key} (“Roll” or “Rotate”) and let the old one expire now.`,
          ],
    dashboard: ({ user, at }) => [
      ...(user === null
        ? [`In the provider's dashboard, open the security history in the settings and look for who made it at ${at}.`]
        : []),
      `If ${user ?? 'this person'} did not do it, somebody else uses their access: remove it under Settings > Team in the dashboard.`,
    ],
    automatic: ({ noun }) => [
      `Open the ${noun} in the provider's dashboard. Its history says why the provider made it.`,
      'If it should not happen again, ask your developers to change the rule in the billing settings of the dashboard.',
    ],
    hosted_page: () => [
      'Ask your customer support whether the customer wanted it.',
      "If customers should not be able to do this: switch it off in the settings of the customer portal, in the provider's dashboard.",
    ],
    unknown: ({ noun, at }) => [
      `Open the ${noun} in the provider's dashboard. Its history may say who made it.`,
      `If it does not: open ${REQUEST_LOGS} there and look at the requests at ${at}. Replace the API key of the request (“Roll” or “Rotate”) under Developers > API keys.`,
    ],
  },
  reseller: {
    api: ({ key }) => [
      "In the provider's dashboard, open Developer tools > Authentication > API keys.",
      key === UNNAMED_KEY
        ? 'Revoke each key that may make refunds or change subscriptions and that you cannot vouch for, and create a new one for the program that used it.'
        : `Revoke ${key}, and create a new one for the program that used it.`,
    ],
    dashboard: ({ user }) => [
      user === null
        ? "Ask the people in your team who may use the provider's dashboard. Its Team page lists them."
        : `Open the Team page of the provider's dashboard, which lists ${user}.`,
      'If a person did not do it, but their access was used: somebody else has it. Remove it on the Team page.',
    ],
    automatic: ({ noun }) => [
      `Open the ${noun} in the provider's dashboard. It says why the provider made it.`,
      "If you do not agree, write to the provider's support; only they can change it.",
    ],
    hosted_page: () => [
      'Ask your customer support whether the customer wanted it.',
      'Customers can do this on the page that the provider links in its receipts; the provider does not let you switch it off.',
    ],
    unknown: ({ noun }) => [
      `Open the ${noun} in the provider's dashboard, and ask the people that its Team page lists.`,
      'If nobody made it: revoke the API keys that may make refunds or change subscriptions under Developer tools > Authentication > API keys, and create new ones.',
    ],
  },
  subscription: {
    api: ({ key }) => [
      "In the settings of the provider's dashboard, open API Keys and Webhooks > API Keys.",
      key === UNNAMED_KEY
        ? 'Delete each full-access key that you cannot vouch for, and create a new one for the program that used it.'
        : `Delete ${key}, and create a new one for the program that used it.`,
    ],
    dashboard: ({ user, noun }) => [
      ...(user === null ? [`Open the ${noun} in the provider's dashboard. Its list of events says who made it.`] : []),
      `If ${user ?? 'this person'} did not do it, somebody else uses their access: remove it in the settings of the dashboard, where its users are listed.`,
    ],
    automatic: ({ noun }) => [
      `Open the ${noun} in the provider's dashboard. Its list of events says which rule made it.`,
      'If it should not happen again, ask your developers to change the rule in the settings of the dashboard.',
    ],
    hosted_page: () => [
      'Ask your customer support whether the customer wanted it.',
      "If customers should not be able to do this: switch it off in the settings of the customer portal, in the provider's dashboard.",
    ],
    unknown: ({ noun }) => [
      `Open the ${noun} in the provider's dashboard. Its list of events may say who made it.`,
      'If it does not: ask the users that its settings list, then delete the full-access keys that you cannot vouch for: they are under API Keys and Webhooks in the settings.',
    ],
  },
}

/**
 * How to keep the money: what each provider still allows for a refund. Some card refunds can be cancelled in the dashboard for a short
 * time (support.stripe.com/questions/canceling-a-refund). The reseller's refunds cannot be changed after they are requested
 * (developer.paddle.com/api-reference/adjustments).
 */
const REFUND_STEPS: Record<ProviderKind, { readonly open: string; readonly made: string }> = {
  processor: {
    open: "The refund is not final yet. Open the payment in the provider's dashboard and cancel the refund there now, if this is offered.",
    made: "Some card refunds can still be cancelled for a short time: open the payment in the provider's dashboard, and cancel the refund there if this is offered.",
  },
  reseller: {
    open: "The provider still reviews this refund. Write to the provider's support now and ask them to reject it.",
    made: 'This refund can no longer be cancelled, because the provider has approved it. The next steps prevent further ones.',
  },
  subscription: {
    open: 'The refund is not final yet. Ask your payment gateway now to stop it; this provider only records it.',
    made: 'This provider cannot take the refund back. Ask your payment gateway whether it still can.',
  },
}

/**
 * How to keep the subscription. The providers document that a scheduled end can be removed, but no name of a button for it
 * (docs.stripe.com/billing/subscriptions/cancel, developer.paddle.com/build/subscriptions/cancel-subscriptions,
 * apidocs.chargebee.com/docs/api/subscriptions/remove-scheduled-cancellation). Only the biller can start an ended one again
 * (chargebee.com/docs/reactivation.html).
 */
const ENDED_STEPS: Record<ProviderKind, string> = {
  processor:
    'The subscription has ended and cannot be started again. If the customer wants to stay, create a new subscription.',
  reseller:
    'The subscription has ended and cannot be started again. If the customer wants to stay, they have to buy it again.',
  subscription:
    "The subscription has ended. If the customer wants to stay, open it in the provider's dashboard and choose “Reactivate Subscription”.",
}

/** An authorization that was canceled cannot be captured (docs.stripe.com/payments/place-a-hold-on-a-payment-method). */
const RELEASED_STEP =
  'A released authorization can no longer be captured. If you still expect the money, ask the customer to pay again.'

const STILL_RUNS_STEP =
  "The subscription still runs. Open it in the provider's dashboard and remove the scheduled cancellation."

const UNNAMED_KEY = 'this key'

/** New accounts of the processor have Workbench, and older ones may have only its predecessor. */
const REQUEST_LOGS = 'Developers > Workbench > Logs (in older accounts Developers > Logs)'

/** The log of the request names the key or login. */
const byStranger = ({ requestId }: Maker) =>
  requestId === null
    ? 'If a stranger made this, revoke the stolen key or login.'
    : `If a stranger made this, revoke the key or login behind request ${requestId}.`

const SENTENCES: Record<Channel, (maker: Maker) => string> = {
  api: maker =>
    maker.key === UNNAMED_KEY ? byStranger(maker) : `If none of your programs made this, replace ${maker.key}.`,
  dashboard: maker =>
    maker.user === null
      ? byStranger(maker)
      : `Ask ${maker.user} now whether they made this; if not, somebody else is in your account.`,
  automatic: () => 'Find out why the provider made this; nobody in your team did.',
  hosted_page: () => 'Check whether the customer wanted this; nobody in your team made it.',
  unknown: byStranger,
}

const TEST_MODE: NextStep = {
  sentence: 'No real money moved, so there is no hurry.',
  steps: ['Ask your developers whether one of their tests made it.'],
}

const AWAIT_STEP =
  'If your own software made them and only reports them late, there is nothing to do: this incident resolves itself after the second look.'

const UNDO_MANY_STEP =
  "Ask the provider's support which of them can still be taken back. Begin with the largest amounts."

/** What to do about a refund that repeats another one. */
export function nextStepsOfRepeat(action: Made): NextStep {
  if (action.mode === 'test') return TEST_MODE
  return {
    sentence: 'Find out whether both are meant. If not, stop the software that repeats refunds.',
    steps: [
      'If both are meant, for example for two returned items: choose “This was us”. If this is usual for this account, switch the rule off in the settings of the connection.',
      'If not, look up both operations in your software. Often it retries a refund that had succeeded: stop it until that is repaired.',
      ...accountSteps(action),
      ...undoSteps(action),
    ],
  }
}

/** What to do about an action of a canary. */
export function nextStepsOfCanary(action: Made): NextStep {
  const { steps } = stopStepsOf(action)
  return {
    sentence: 'Treat this as a break-in: revoke the key or login now.',
    steps: [
      ...steps,
      ...accountSteps(action),
      ...undoSteps(action),
      'Whoever found the canary may have found what was stored beside it. Replace the other keys and passwords of that place too.',
      'If somebody of your team used it by mistake: resolve this incident in the console, and put a new canary in its place.',
    ],
  }
}

/** What to do at the provider about an action that nothing explains. All other steps are buttons of the console and links of messages. */
export function providerStepsOf(action: Made): NextStep {
  if (action.mode === 'test') return TEST_MODE
  const { sentence, steps } = stopStepsOf(action)
  return { sentence, steps: [...accountSteps(action), ...undoSteps(action), ...steps] }
}

function stopStepsOf({ provider, origin, kind, provider_created_at }: Made): NextStep {
  return stopSteps(provider, origin, {
    at: provider_created_at,
    noun: nounOfSubject(kind),
    requestId: origin?.request_id == null ? null : toOneLine(origin.request_id),
  })
}

/** The dashboard of a platform shows a connected account's payments only from the account's perspective. */
function accountSteps({ account }: Pick<Made, 'account'>): string[] {
  return account === undefined
    ? []
    : [
        `In the provider's dashboard, find the connected account ${toOneLine(account)} and view the dashboard as this account.`,
      ]
}

/** What to do about many unexplained actions: stop their origin first, because it may make more of them. */
export function nextStepsOfStorm(storm: Storm): NextStep {
  if (storm.count === storm.resolved) return { sentence: 'There is nothing left to do.', steps: [] }
  return providerStepsOfMany(storm)
}

/** What to do about many actions whose second looks are still to come. */
export function nextStepsOfBurst(burst: Burst): NextStep {
  const { sentence, steps } = providerStepsOfMany(manyOf(burst))
  return { sentence, steps: [...steps, AWAIT_STEP] }
}

function providerStepsOfMany({
  provider,
  mode,
  kinds,
  money,
  account,
  first_at,
  common: { channel, key_name, user },
}: Many): NextStep {
  return providerStepsOfStorm({
    provider,
    mode,
    kind: kinds[0]?.kind ?? 'refund',
    hasMoney: money.length > 0,
    account,
    first_at,
    origin: { channel: channel?.value ?? null, key_name: key_name?.value ?? null, user: user?.value ?? null },
  })
}

/** The facts of a storm on which its next steps depend. */
interface StormMade {
  readonly provider: ProviderKind
  readonly mode: Storm['mode']
  readonly kind: RecordKind
  readonly hasMoney: boolean
  readonly first_at: string
  /** The connected account of all actions. */
  readonly account: string | undefined
  /** What most actions have in common. */
  readonly origin: Pick<Origin, 'channel' | 'key_name' | 'user'>
}

/** What to do at the provider about many unexplained actions. */
export function providerStepsOfStorm(storm: StormMade): NextStep {
  const { provider, mode, kind, hasMoney, first_at, origin } = storm
  if (mode === 'test') return TEST_MODE
  const noun = nounOfSubject(kind)
  const { sentence, steps } = stopSteps(provider, origin, {
    at: first_at,
    noun: hasMoney ? `${noun} with the largest amount` : noun,
    requestId: null,
  })
  return { sentence, steps: [...accountSteps(storm), ...steps, UNDO_MANY_STEP] }
}

function stopSteps(
  provider: ProviderKind,
  origin: Pick<Origin, 'channel' | 'key_name' | 'user'> | undefined,
  facts: Pick<Maker, 'at' | 'noun' | 'requestId'>,
): NextStep {
  const channel: Channel = origin?.channel ?? (origin?.key_name == null ? 'unknown' : 'api')
  const maker: Maker = {
    key: origin?.key_name == null ? UNNAMED_KEY : `the key "${toOneLine(origin.key_name)}"`,
    user: origin?.user == null ? null : toOneLine(origin.user),
    ...facts,
  }
  return { sentence: SENTENCES[channel](maker), steps: STOP_STEPS[provider][channel](maker) }
}

function undoSteps({ provider, kind, state, authorization_released }: Made): string[] {
  if (authorization_released) return [RELEASED_STEP]
  if (movedNoMoney(state)) return []
  if (kind === 'refund') return [REFUND_STEPS[provider][state === 'succeeded' ? 'made' : 'open']]
  if (kind !== 'cancellation') return []
  return [state === 'scheduled' ? STILL_RUNS_STEP : ENDED_STEPS[provider]]
}
