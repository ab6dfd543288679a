import type { Egress, EgressRequest } from '@backstop/kit/egress'
import { AppError } from '@backstop/kit/errors'

/** An egress that records requests and sends none, for tests with public addresses. */
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
