/**
 * The steps at a provider that complete a connection, for the command line and the console. This file imports nothing, because browsers
 * load it.
 */

type Kind = 'processor' | 'reseller' | 'subscription'

/** The events to subscribe to at each kind of provider, for the whole house; docs/decisions/<kind>.md explains them. */
export const EVENTS_TO_TICK: Readonly<Record<Kind, readonly string[]>> = {
  processor: [
    'refund.created',
    'refund.updated',
    'charge.refunded',
    'customer.subscription.updated',
    'customer.subscription.deleted',
  ],
  reseller: [
    'adjustment.created',
    'adjustment.updated',
    'subscription.updated',
    'subscription.canceled',
    'subscription.paused',
    'subscription.resumed',
  ],
  subscription: [
    'credit_note_created',
    'payment_refunded',
    'subscription_cancellation_scheduled',
    'subscription_cancelled',
    'subscription_scheduled_cancellation_removed',
    'subscription_paused',
    'subscription_pause_scheduled',
    'subscription_resumed',
    'subscription_scheduled_pause_removed',
    'subscription_changed',
  ],
}

/** The place in the provider's dashboard where webhooks are set up. */
const PLACES: Readonly<Record<Kind, string>> = {
  processor: 'Developers > Webhooks > Add endpoint (Stripe)',
  reseller: 'Developer tools > Notifications > New destination (Paddle)',
  subscription: 'Settings > Configure Chargebee > Webhooks > Add webhook (Chargebee)',
}

/** How an event is sent without a refund of real money. */
const TEST_NOTES: Readonly<Record<Kind, string>> = {
  processor: 'Without real money: set up the endpoint in a sandbox too, and refund a test payment there.',
  reseller: 'Without real money: open Developer tools > Simulations, and send adjustment.created to the destination.',
  subscription: 'Without real money: set up the webhook in the test site too, and refund a test invoice there.',
}

/** What only the answer of a creation shows. */
export interface ShownOnce {
  readonly username?: string
  readonly password?: string
}

export interface SetupStep {
  readonly id: 'open' | 'url' | 'events' | 'secret' | 'read_key' | 'test'
  /** What to do, as a sentence without its last mark. */
  readonly text: string
  /** What to paste or to tick at the provider. */
  readonly copy: readonly string[]
  /** What follows `text` and stands before `copy`, as a sentence. */
  readonly note?: string
  /** True if something that the provider shows is stored in Backstop. */
  readonly isStored: boolean
}

interface SetUpConnection {
  readonly kind: Kind
  readonly inbound_url: string
  readonly has_read_key: boolean
}

/** The steps in their order. The step about the read key is left out if the connection has one. */
export function setupSteps(connection: SetUpConnection, secrets: ShownOnce = {}): SetupStep[] {
  const { kind, inbound_url, has_read_key } = connection
  const step = (id: SetupStep['id'], text: string, copy: readonly string[] = []) => ({
    id,
    text,
    copy,
    isStored: false,
  })
  return [
    step('open', `In the dashboard of the provider, open ${PLACES[kind]}`),
    step('url', 'Paste this URL', [inbound_url]),
    step('events', 'Tick these events', EVENTS_TO_TICK[kind]),
    secretStep(kind, secrets),
    ...(has_read_key ? [] : [readKeyStep(kind)]),
    { ...step('test', 'Make a test refund'), note: TEST_NOTES[kind] },
  ]
}

function secretStep(kind: Kind, { username = '', password }: ShownOnce): SetupStep {
  switch (kind) {
    case 'processor':
      // Stripe generates the signing secret and accepts no other.
      return { id: 'secret', text: 'Copy the signing secret of the endpoint, and store it', copy: [], isStored: true }
    case 'reseller': {
      const text = 'The secret of the destination must be the one that the connection was created with'
      return { id: 'secret', text, copy: [], isStored: false }
    }
    case 'subscription': {
      const lost =
        'Choose basic authentication, with the user name and password that the creation of the connection showed'
      if (password === undefined) return { id: 'secret', text: lost, copy: [], isStored: false }
      const text = 'Choose basic authentication, with this user name and password, which are shown only now'
      return { id: 'secret', text, copy: [username, password], isStored: false }
    }
    default:
      return kind satisfies never
  }
}

function readKeyStep(kind: Kind): SetupStep {
  const note =
    kind === 'subscription'
      ? 'Required, because events of this provider are not signed.'
      : 'Recommended, so that changes without a notification are found too.'
  return { id: 'read_key', text: 'Create a read-only API key, and store it', note, copy: [], isStored: true }
}
