import type { Action } from '@backstop/client'
import { formatMoney } from '../../format/money.ts'

export const KINDS = [
  { value: 'refund', label: 'Refund' },
  { value: 'cancellation', label: 'Cancellation' },
  { value: 'pause', label: 'Pause' },
  { value: 'resume', label: 'Resume' },
  { value: 'schedule_removal', label: 'Removal of a scheduled change' },
  { value: 'dispute', label: 'Dispute' },
  { value: 'credit', label: 'Credit' },
  { value: 'reversal', label: 'Reversal' },
] as const satisfies readonly { value: Action['kind']; label: string }[]

export const VERDICTS = [
  { value: 'unexplained', label: 'Unexplained' },
  { value: 'pending', label: 'Pending' },
  { value: 'explained', label: 'Explained' },
  { value: 'not_alerted', label: 'Not alerted' },
] as const satisfies readonly { value: Action['verdict']; label: string }[]

/** Why an action has its verdict: a few words for lists, and the sentence that answers why it was alerted or not. */
export const REASONS: Record<Action['reason'], { label: string; sentence: string }> = {
  awaiting_second_look: {
    label: 'Waits for its second look',
    sentence:
      'Nothing explained it at first sight. Backstop looks a second time before it alerts, so that a late report of your software still counts.',
  },
  provider_ref_matches: {
    label: 'Reported with its id',
    sentence: 'Your software reported exactly this object: the operation names its id at the provider.',
  },
  request_id_matches: {
    label: 'Reported with its request',
    sentence: 'It was made by a request that your software reported: the operation has the id of the request.',
  },
  idempotency_key_matches: {
    label: 'Reported with its key',
    sentence: 'It was made with the idempotency key of an operation that your software reported.',
  },
  credit_note_matches: {
    label: 'Reported by credit note',
    sentence: 'It belongs to a credit note of an operation that your software reported.',
  },
  amount_and_time_match: {
    label: 'Same amount and time',
    sentence:
      'Your software reported an operation with the same payment or subscription, the same amount, and about the same time.',
  },
  made_before_connection: {
    label: 'Made before the connection',
    sentence: 'It was made before this account was connected to Backstop.',
  },
  scheduled_before: {
    label: 'Scheduled before the connection',
    sentence: 'It was already scheduled when this account was connected to Backstop.',
  },
  expected_change_matches: {
    label: 'An expected change',
    sentence: 'A person had said that this change was to be expected, and that expected change covers it.',
  },
  nothing_explains_it: {
    label: 'Nothing explains it',
    sentence: 'No operation of your software and no expected change explains it.',
  },
  out_of_band_ignore: {
    label: 'Set to never alert',
    sentence:
      'Nothing explains it, but the connection or connected account is set to never alert about unexplained changes.',
  },
  auto_before_first_operation: {
    label: 'Before the first operation',
    sentence:
      'Nothing explains it, but the connection or connected account is set to alert only after your software has reported its first operation on it.',
  },
  connection_deleted: {
    label: 'The connection was deleted',
    sentence: 'The connection was deleted before the second look.',
  },
  involuntary_end: {
    label: 'Ended by the provider',
    sentence:
      'The provider ended the subscription itself, for example after its last attempt to collect a payment. Nobody cancelled it.',
  },
  plan_ended: {
    label: 'The plan reached its end',
    sentence: 'The plan of the subscription reached its end. Nobody cancelled it.',
  },
  no_payment_method: {
    label: 'No payment method',
    sentence:
      'The provider ended the subscription at the end of its trial or term, because there was no payment method.',
  },
  payment_disputed: {
    label: 'A payment was disputed',
    sentence: 'The provider ended the subscription because its payment was disputed.',
  },
  retention_policy: {
    label: 'Old data of the provider',
    sentence: 'The provider ended the subscription by its retention rule for old data.',
  },
  never_began: {
    label: 'The subscription never began',
    sentence: 'The first payment failed, so the subscription never began.',
  },
  not_billable: {
    label: 'Not billable',
    sentence:
      'The provider cannot bill the subscription, for example because of fraud review, compliance, tax or currency.',
  },
  authorization_expired: {
    label: 'An authorization expired',
    sentence: 'An authorization expired and was not captured. The provider calls it a refund, but no money moved.',
  },
  kind_is_not_judged: {
    label: 'Recorded only',
    sentence: 'Backstop judges refunds and cancellations. It records all other changes, and does not alert about them.',
  },
  provider_denies_it: {
    label: 'The provider does not have it',
    sentence:
      'It was alerted while the provider could not be read. Later the provider answered that it does not have it.',
  },
}

/** Why an operation does not explain an action, as the one fact that failed. */
export const FAILURES: Record<NonNullable<Action['why']>['candidates'][number]['failure'], string> = {
  operation_did_not_act: 'Not sent to the provider',
  operation_skipped_approval: 'Approval missing',
  other_kind: 'Another kind',
  other_provider_ref: 'Another refund',
  other_subject: 'Another payment',
  other_amount: 'Another amount',
  outside_time_window: 'Another time',
  explains_another: 'Explains another action',
  other_operation_fits_better: 'Another operation fits better',
  awaits_its_own: 'Waits for its own refund',
}

/** What happened, with its money: `Refund of EUR 24.99`. */
export function nameAction({
  kind,
  amount,
  currency,
  authorization_released,
}: Pick<Action, 'kind' | 'amount' | 'currency' | 'authorization_released'>): string {
  const known = KINDS.find(({ value }) => value === kind)?.label ?? kind
  const word = authorization_released ? 'Release of an authorization' : known
  return amount === null || currency === null ? word : `${word} of ${formatMoney(amount, currency)}`
}

/** The state of an action. The words say what became of a subscription, and of the money. */
export function stateWords(
  action: Pick<Action, 'kind' | 'state' | 'authorization_released' | 'subscription_continues'>,
): string {
  const { kind, state, authorization_released, subscription_continues: continues } = action
  if (authorization_released) return 'released, no money moved'
  if (kind !== 'cancellation' || (state !== 'canceled' && state !== 'reversed')) return state.replaceAll('_', ' ')
  const set = continues === false ? 'set and did not take effect' : 'set and taken back'
  const now = continues ? 'the subscription continues' : 'another cancellation followed'
  const words = state === 'canceled' ? set : 'made and taken back later'
  return continues === undefined ? words : `${words}; ${now}`
}
