import { AppError } from '@backstop/kit'

/** The entity tag of a version. */
export function etagOf(version: number): string {
  return `"${version}"`
}

/**
 * Honours If-Match (RFC 9110, 13.1.1): the caller's change is for the version that it read. Without the header it is for
 * whatever there is.
 * @throws AppError `precondition_failed` when that version is no longer the one that is stored
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
