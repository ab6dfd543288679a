import { AppError, type Egress, type EgressRequest } from '@backstop/kit'

/** An egress that goes nowhere and says what it was asked for: for public addresses, which tests do not call. */
export function createRecordingEgress(): { egress: Egress; requests: EgressRequest[] } {
  const requests: EgressRequest[] = []
  const egress: Egress = {
    checkUrl: () => undefined,
    async request(request) {
      requests.push(request)
      throw new AppError('egress_blocked', 'Nothing is called here')
    },
    stop: async () => {},
  }
  return { egress, requests }
}
