import { AppError } from '@backstop/kit'
import type { ResendVerdict } from './rules/delivery.ts'

const REFUSALS: Record<Extract<ResendVerdict, { kind: 'refused' }>['reason'], string> = {
  channel_deleted: 'Its alert channel was deleted',
  channel_switched_off: 'Its alert channel is switched off; enable it first',
  channel_disabled: 'Its alert channel is disabled by its failures; enable it first',
  a_test: 'It was a test; send another test with POST /v1/alert-channels/{id}/test',
  delivered: 'It was already delivered',
  superseded: 'A later message covered it; see told_by',
}

/** @param what the consequence in words: "Delivery dlv_1 is not sent again" @throws AppError `conflict` with the reason */
export function refuseResend(verdict: ResendVerdict, what: string): void {
  if (verdict.kind === 'refused') throw new AppError('conflict', `${what}: ${REFUSALS[verdict.reason]}`)
}
