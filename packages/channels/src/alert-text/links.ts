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
export function linksOf({ path, providerUrl }: AlertDescription, publicUrl: string | null): AlertLink[] {
  return [
    ...(publicUrl === null || path === null ? [] : [{ text: 'Open in the console', url: publicUrl + path }]),
    ...(providerUrl === null ? [] : [{ text: "Open in the provider's dashboard", url: providerUrl }]),
  ].filter(({ url }) => url.length <= MOST_CHARACTERS)
}
