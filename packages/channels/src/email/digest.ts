import type { Alert } from '@backstop/contracts'
import { describeDigest, distinguish } from '../alert-text/describe-digest.ts'
import { capitalise } from '../alert-text/wording.ts'
import { cutText } from '../cut-text.ts'
import { fillMail, type MailContent, type MailView } from './message.ts'

export interface DigestMailView extends Omit<MailView, 'alert'> {
  /** In the order in which they were raised. */
  readonly alerts: readonly Alert[]
  readonly digestId: string
}

/** Limits that keep a full digest below 102 KB, where mail programs begin to clip. In characters. */
const LIMITS = { title: 150, about: 80, url: 200 } as const

/** Renders one mail that reports several alerts. */
export function renderDigestMail(view: DigestMailView): MailContent {
  const { title, sums, entries, next, tone } = describeDigest(view.alerts, view.reader)
  const texts = {
    subject: `${title}: ${sums[0]}`,
    title,
    summary: capitalise(`${sums.join('; ')}.`),
    facts: [],
    next,
    tone,
    links: [],
    entries: entries.map(entry => {
      const link = view.publicUrl === null || entry.path === null ? null : view.publicUrl + entry.path
      // Part of a link leads nowhere.
      const url = link === null || link.length > LIMITS.url ? null : link
      return {
        text: cutText(entry.title, LIMITS.title),
        reference: cutText(distinguish(entry, url !== null), LIMITS.about),
        url,
      }
    }),
    threadId: view.digestId,
  }
  return fillMail(texts, view)
}
