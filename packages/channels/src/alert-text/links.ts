import type { Alert } from '@backstop/contracts'
import type { AlertDescription } from './alert-description.ts'

export interface AlertLink {
  readonly text: string
  readonly url: string
}

/** Links that are longer are left out: a part of a link leads nowhere. */
const MOST_CHARACTERS = 2_000

/**
 * The pages of an alert: in the console, and in the provider's dashboard.
 * @param publicUrl base URL of the console; null if this installation has no public address
 */
export function linksOf(alert: Alert, { path }: AlertDescription, publicUrl: string | null): AlertLink[] {
  const action = 'action' in alert.data ? alert.data.action : null
  const provider = action?.links?.provider ?? null
  return [
    ...(publicUrl === null || path === null ? [] : [{ text: 'Open', url: publicUrl + path }]),
    ...(provider === null ? [] : [{ text: 'Open at the provider', url: provider }]),
  ].filter(({ url }) => url.length <= MOST_CHARACTERS && isWebPage(url))
}

function isWebPage(url: string): boolean {
  const protocol = URL.parse(url)?.protocol
  return protocol === 'https:' || protocol === 'http:'
}
