import type { Branding } from '@backstop/contracts'
import type { AlertDescription } from '../alert-text/alert-description.ts'

/** The appearance of a mail: the project's branding, with Backstop's defaults for missing values. */
export interface MailAppearance {
  readonly name: string
  /** An https URL; null to show the name instead of a logo. */
  readonly logoUrl: string | null
  readonly accent: string
  /** The colour of text on the accent colour. */
  readonly onAccent: string
  /** Plain-text lines at the end of the mail. */
  readonly footer: readonly string[]
}

const ACCENTS = { alarm: '#b42318', relief: '#067647', neutral: '#344054' } as const
const COLOUR = /^#[0-9a-f]{6}$/i

/** Validates the branding again, because a different version of admin-api may have stored it. */
export function appearanceOf(branding: Branding, ownName: string, tone: AlertDescription['tone']): MailAppearance {
  const { name, logo_url: logoUrl, accent_colour: colour, footer = '' } = branding
  const accent = colour !== undefined && COLOUR.test(colour) ? colour.toLowerCase() : ACCENTS[tone]
  return {
    name: toOneLine(name ?? '', 60) || ownName,
    logoUrl: logoUrl !== undefined && /^https:\/\/[^\s"'<>\\]+$/.test(logoUrl) ? logoUrl : null,
    accent,
    onAccent: isLight(accent) ? '#101828' : '#ffffff',
    footer: footer
      .split(/\r\n|\r|\n/)
      .map(line => toOneLine(line, 500))
      .filter(line => line !== ''),
  }
}

/** Removes control characters, which could end a header early, and truncates the text to `limit` code points. */
export function toOneLine(text: string, limit: number): string {
  return Array.from(text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim())
    .slice(0, limit)
    .join('')
}

/** True if dark text has more contrast than white text on this colour (WCAG 2.2, 1.4.3). */
function isLight(colour: string): boolean {
  const channel = (at: number) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  }
  return 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5) > 0.179
}
