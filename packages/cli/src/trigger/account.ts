import { CommandFault } from '../exit-code.ts'
import type { Surroundings } from '../surroundings.ts'
import type { SigningConnection } from './trial-connection.ts'

/** A refund or cancellation that was made at the simulated provider. */
export interface Made {
  readonly kind: 'refund' | 'cancellation'
  /** The payment or subscription. */
  readonly subject: string
  /** The provider's id of the refund; null for a cancellation. */
  readonly providerRef: string | null
  readonly amount: number | null
  readonly currency: string | null
}

/** A payment that can be refunded. */
export interface Paid {
  readonly subject: string
  readonly amount: number
  readonly currency: string
  refund(): Made
}

/** A simulated account at a provider, whose events are signed and posted to a connection. */
export interface TriggerAccount {
  pay(amount: number): Paid
  cancel(): Made
  /** From now on events are signed with a wrong secret. */
  spoilSignature(): void
  /** Posts every event twice from now on. */
  duplicate(): void
  /** Waits until every event is posted. @returns the number of accepted events, and the first refusal */
  posted(): Promise<{ accepted: number; refused: string | undefined }>
}

const CURRENCY = 'eur'
const RETRY_DELAYS_MS = [250, 500, 1_000]

/** Opens a new account of the simulator. @throws CommandFault if the simulator is not installed, as in images */
export async function openAccount(
  connection: SigningConnection,
  { now }: Pick<Surroundings, 'now'>,
): Promise<TriggerAccount> {
  const simulator = await import('@backstop/simulator').catch(error => {
    throw new CommandFault('failed', 'The simulator is not installed here', 'Run trigger in a clone', error)
  })
  const { kind, inbound_url: url, secret } = connection
  const credential = { kind, secrets: [secret] }
  const posts = simulator.createWebhookEndpoint({ url, credential, now, retryDelaysMs: RETRY_DELAYS_MS })
  const common: Omit<TriggerAccount, 'pay' | 'cancel'> = {
    spoilSignature: () => posts.change({ credential: { kind, secrets: [`${secret}-wrong`] } }),
    duplicate: () => posts.change({ disturbance: { copies: 2 } }),
    async posted() {
      await posts.idle()
      const attempts = posts.attempts()
      const accepted = new Set(attempts.filter(({ status }) => status === 200).map(({ eventId }) => eventId))
      const refused = attempts.find(({ eventId }) => !accepted.has(eventId))
      return {
        accepted: accepted.size,
        refused: refused && `${refused.status ?? 'no answer'} ${refused.answer}`.slice(0, 500),
      }
    },
  }
  if (kind === 'processor') {
    const account = simulator.createCardProcessor({ now })
    posts.follow(account as never)
    return {
      ...common,
      pay(amount) {
        const { charge, paymentIntent } = account.createPayment({ amount, currency: CURRENCY })
        const paid = { subject: paymentIntent.id, amount, currency: CURRENCY }
        return {
          ...paid,
          refund: () => ({ ...paid, kind: 'refund', providerRef: account.refund({ charge: charge.id }).id }),
        }
      },
      cancel() {
        const { subscription } = account.subscribe({ amount: 2_900, currency: CURRENCY })
        account.cancel(subscription.id)
        return cancellationOf(subscription.id)
      },
    }
  }
  const account = simulator.createReseller({ now })
  posts.follow(account as never)
  return {
    ...common,
    pay(amount) {
      const { id: transactionId } = account.sell({ amount, currency: 'EUR' })
      const paid = { subject: transactionId, amount, currency: CURRENCY }
      return {
        ...paid,
        refund: () => ({ ...paid, kind: 'refund', providerRef: account.refund({ transactionId }).id }),
      }
    },
    cancel() {
      const { subscription } = account.subscribe({ amount: 2_900, currency: 'EUR' })
      account.cancel(subscription.id)
      return cancellationOf(subscription.id)
    },
  }
}

function cancellationOf(subject: string): Made {
  return { kind: 'cancellation', subject, providerRef: null, amount: null, currency: null }
}
