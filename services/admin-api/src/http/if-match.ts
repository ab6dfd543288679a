import { AppError } from '@backstop/kit/errors'

/** The entity tag of a version. */
export function etagOf(version: number): string {
  return `"${version}"`
}

/**
 * Checks If-Match (RFC 9110, 13.1.1): the change applies only to the version that the caller read. Without the header, it applies to the
 * current version.
 * @throws AppError `precondition_failed` if the stored version is another one
 */
export function checkIfMatch(ifMatch: string | undefined, version: number): void {
  if (ifMatch === undefined || ifMatch.trim() === '*') return
  const tags = ifMatch.split(',').map(tag => tag.trim())
  if (tags.includes(etagOf(version))) return
  throw new AppError(
    'precondition_failed',
    `The current version is ${etagOf(version)}; read the resource again and decide again`,
  )
}
