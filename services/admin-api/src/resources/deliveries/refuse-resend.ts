import { AppError } from '@backstop/kit/errors'
import { type ResendVerdict, resendRefusal } from './rules/delivery.ts'

/** @param what the consequence in words: "Delivery dlv_1 is not sent again" @throws AppError `conflict` with the reason */
export function refuseResend(verdict: ResendVerdict, what: string): void {
  const refusal = resendRefusal(verdict)
  if (refusal !== null) throw new AppError('conflict', `${what}: ${refusal}`)
}
