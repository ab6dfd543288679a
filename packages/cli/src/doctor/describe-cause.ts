import { AppError } from '@backstop/kit/errors'

/**
 * Why a part does not answer, in parentheses: the code or the name of the error, or a sentence of ours. Other messages may contain an
 * address with a password, and a number alone says nothing.
 * @throws the error itself if it is a bug
 */
export function describeCause(error: unknown): string {
  if (!(error instanceof AppError)) throw error
  const causes: Error[] = []
  for (let next = error.cause; next instanceof Error; next = next.cause) causes.push(next)
  const code = causes.map(cause => ('code' in cause ? cause.code : undefined)).find(found => typeof found === 'string')
  const [first] = causes
  const reason = code ?? (first === undefined ? undefined : nameOf(first))
  return reason === undefined ? '' : ` (${reason})`
}

/** A plain error without a code is ours. */
function nameOf({ name, message, ...fields }: Error): string | undefined {
  if (name !== 'Error') return name
  return 'code' in fields ? undefined : message.charAt(0).toLowerCase() + message.slice(1)
}
