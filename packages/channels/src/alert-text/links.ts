import type { AlertDescription, MessageAct } from './alert-description.ts'

export interface AlertLink {
  readonly text: string
  readonly url: string
}

/** Links that are longer are left out: a part of a link leads nowhere. */
const MOST_CHARACTERS = 2_000

const ACT_TEXTS: Record<MessageAct, string> = {
  acknowledge: 'Acknowledge',
  ours: 'This was us',
  silence: 'Silence 2 hours',
}

/**
 * The pages of an alert: in the console, in the provider's dashboard, and in the console with the dialog of a decision. To open one changes
 * nothing, because mail scanners and previews open links, too.
 * @param publicUrl base URL of the console; null if this installation has no public address
 */
export function linksOf({ path, providerUrl, acts }: AlertDescription, publicUrl: string | null): AlertLink[] {
  const page = publicUrl === null || path === null ? null : publicUrl + path
  return [
    ...(page === null ? [] : [{ text: 'Open in the console', url: page }]),
    ...(providerUrl === null ? [] : [{ text: "Provider's page", url: providerUrl }]),
    ...(page === null ? [] : acts.map(act => ({ text: ACT_TEXTS[act], url: `${page}?do=${act}` }))),
  ].filter(({ url }) => url.length <= MOST_CHARACTERS)
}
