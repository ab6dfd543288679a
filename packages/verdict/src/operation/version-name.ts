import type { Operation } from '@backstop/contracts'

/** The name of one version of an operation, e.g. `op_…/2`. */
export function versionName({ operation_id, version }: Operation): string {
  return `${operation_id}/${version}`
}
