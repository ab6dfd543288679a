import {
  answerWords,
  CATEGORY_WORDS,
  type Completeness,
  type CompletenessExport,
  type ConnectionCompleteness,
  completenessFacts,
  decimalAmount,
  interruptionWords,
  kindWords,
  limitWords,
  outageWords,
  type ShownValues,
} from '@backstop/contracts'

const DAY = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' })
const TIME = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'medium', timeZone: 'UTC' })
const COUNT = new Intl.NumberFormat('en-GB')

const SHOWN: ShownValues = {
  time: at => `${TIME.format(Date.parse(at))} UTC`,
  count: number => COUNT.format(number),
}

const PROVIDER_WORDS: Readonly<Record<ConnectionCompleteness['provider'], string>> = {
  processor: 'card processor (Stripe)',
  reseller: 'reseller (Paddle)',
  subscription: 'subscription biller (Chargebee)',
}

/** A statement of completeness in words, for people who do not know this product: what is signed. Days and times are those of UTC. */
export function signedWords(whole: Completeness): CompletenessExport['statement'] {
  const last = Date.parse(whole.to) - 1
  const left = whole.connections_complete ? '' : ' It has more accounts than this statement.'
  return {
    title: `Completeness of refunds and cancellations of ${whole.project_name}`,
    project: `${whole.project_name} (${whole.project_id}).${left}`,
    period: `${DAY.format(Date.parse(whole.from))} to ${DAY.format(last)}, in UTC`,
    made: SHOWN.time(whole.made_at),
    outages: outageWords(whole, SHOWN),
    accounts: whole.connections.map(one => ({
      account: `${one.connection_name}, ${PROVIDER_WORDS[one.provider]} (${one.connection_id})`,
      answer: answerWords(one, SHOWN),
      facts: completenessFacts(one, SHOWN),
      interruptions: interruptionWords(one, SHOWN),
      limits: limitWords(one, SHOWN),
      money: one.lines.map(({ category, kind, mode, count, amount, currency }) => ({
        category: CATEGORY_WORDS[category],
        kind: kindWords({ kind }),
        mode: mode === null ? 'not stated by the provider' : mode === 'test' ? 'test' : 'real money',
        number: SHOWN.count(count),
        sum: currency === null ? 'none' : `${currency.toUpperCase()} ${decimalAmount(amount, currency)}`,
      })),
    })),
  }
}
