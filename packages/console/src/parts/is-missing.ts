import { ApiProblem } from '@backstop/client'

/** True if the API does not know the resource: somebody deleted it, or it never was. */
export function isMissing(error: Error | null): boolean {
  return error instanceof ApiProblem && error.status === 404
}
