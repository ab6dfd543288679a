import { type Action, formatMoney, type Why } from '@backstop/contracts'
import { clockTime } from './times.ts'
import { toOneLine } from './wording.ts'

/** From this factor on, the factor says more than the two amounts. */
const LEAST_FACTOR = 2

/** The one fact that most alarms about an unexplained action, as a sentence: how it differs from what the software reported. */
export function alarmingFact(action: Action): string {
  const closest = action.operation_id === null ? action.why?.closest : undefined
  if (closest === undefined) return 'Neither your software nor your team reported it.'
  return describeOtherAmount(action, closest) ?? `${toOneLine(closest.text).replace(/\.$/, '')}.`
}

/** `25 × what your software reported at 09:58 UTC (EUR 49.90).` */
function describeOtherAmount(
  { amount, currency, provider_created_at }: Action,
  { failure, reported }: NonNullable<Why['closest']>,
): string | null {
  if (failure !== 'other_amount' || amount === null || !reported?.amount || reported.currency !== currency) return null
  const money = formatMoney(reported.amount, reported.currency)
  const at = clockTime(reported.at, provider_created_at)
  const factor = amount / reported.amount
  if (factor < LEAST_FACTOR) return `Your software reported ${money} at ${at}, not ${formatMoney(amount, currency)}.`
  return `${factor < 10 ? Math.floor(factor * 10) / 10 : Math.floor(factor)} × what your software reported at ${at} (${money}).`
}
