import { recipientTag } from '@backstop/channels'
import {
  deterministicId,
  readUnsubscribeTarget,
  SuppressionReason,
  UNSUBSCRIBE_PURPOSE,
  type UnsubscribeTarget,
} from '@backstop/contracts'
import { z } from 'zod'
import { type AuditedChange, defineRoute, type Route } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import { renderPage } from './pages.ts'

const tag = 'Unsubscribing'
/** The token may have any length, because a person with a broken link should get the page and not an error. */
const TokenParams = z.object({ token: z.string() })
const PAGE = { description: 'A page for a person', mediaType: 'text/html' } as const
const ANSWERS = { 200: PAGE, 404: { ...PAGE, description: 'A page that says that the link is not valid' } }

/**
 * Recently used tokens. A repeated POST with such a token sends no second command. The time is short, because a team may remove the
 * suppression and the person may then unsubscribe again.
 */
const MAX_REMEMBERED_TOKENS = 10_000
const REMEMBER_TOKEN_MS = 5_000

/**
 * /v1/unsubscribe/{token}: the target of the links and one-click headers in mails (RFC 8058). The token is the credential. Tokens cannot
 * be guessed, so the page may say that a link is broken. It never shows the address of a valid token.
 */
export function unsubscribeRoutes({ secretBox, commands, stores }: AdminParts): Route[] {
  const suppress = createSuppressor(commands)
  const isSuppressed = async ({ projectId: project_id, address }: UnsubscribeTarget) =>
    (await stores.suppressions.find({ project_id, address, reason: { in: SuppressionReason.options } })) !== undefined
  const subjectOf = (token: string, now: Date) => {
    const text = secretBox.verify(UNSUBSCRIBE_PURPOSE, token)
    return text === undefined ? undefined : readUnsubscribeTarget(text, now)
  }
  return [
    defineRoute({
      method: 'get',
      path: '/v1/unsubscribe/{token}',
      operationId: 'showUnsubscribe',
      tag,
      summary: 'Show the unsubscribe page that a link in a mail opens',
      description: 'Changes nothing, because mail scanners open links as well. A link works for 90 days.',
      scope: 'public',
      params: TokenParams,
      answers: ANSWERS,
      handle: async ({ params: { token }, now }) =>
        subjectOf(token, now) === undefined
          ? invalidLinkPage()
          : {
              status: 200,
              ...renderPage({
                title: 'Unsubscribe from these alerts?',
                text: 'This address gets no more alert mails of this project. Everybody else of the team still does.',
                button: 'Unsubscribe',
              }),
            },
    }),
    defineRoute({
      method: 'post',
      path: '/v1/unsubscribe/{token}',
      operationId: 'unsubscribe',
      tag,
      summary: 'Unsubscribe an address with one click',
      description:
        'The request of the button on the page and of the one-click header in mails (RFC 8058), for 90 days after the alert. The body is ignored. The audit has a row with the actor `mail_link`.',
      scope: 'public',
      params: TokenParams,
      body: z.string(),
      bodyForm: 'ignored',
      answers: ANSWERS,
      refusals: ['unavailable'],
      async handle({ params: { token }, now, requestId, logger }) {
        const subject = subjectOf(token, now)
        // A repeat changes nothing, so a person with a link cannot fill the audit.
        const isNew = subject !== undefined && !(await isSuppressed(subject)) && (await suppress(token, subject, now))
        logger.info(
          { request_id: requestId, project_id: subject?.projectId, known: subject !== undefined },
          'unsubscribe',
        )
        if (subject === undefined) return invalidLinkPage()
        return {
          status: 200,
          ...renderPage({
            title: 'You are unsubscribed',
            text: 'Alert mails of this project no longer go to this address. Ask your team to add it again if that was a mistake.',
          }),
          ...(isNew ? { changed: describeChange(subject) } : {}),
        }
      },
    }),
  ]
}

/** The audit row names neither the address nor the token: rows are kept for 400 days and cannot be changed. */
function describeChange({ projectId, address }: UnsubscribeTarget): AuditedChange {
  const tag = recipientTag(address)
  const actor = { kind: 'mail_link', id: tag, name: 'Link of a mail', sessionId: null } as const
  return { actor, action: 'suppression.unsubscribe', target: tag, projectId }
}

/**
 * Returns a function that suppresses the address of a token, once for the requests of a few seconds. It returns false
 * for a repeat.
 */
function createSuppressor(commands: AdminParts['commands']) {
  const doneAt = new Map<string, number>()
  return async (token: string, { projectId, address }: UnsubscribeTarget, now: Date): Promise<boolean> => {
    if (now.getTime() - (doneAt.get(token) ?? Number.NEGATIVE_INFINITY) < REMEMBER_TOKEN_MS) return false
    await commands.send([
      {
        kind: 'suppress_address',
        command_id: deterministicId('command', 'unsubscribe', projectId, address, now.toISOString()),
        project_id: projectId,
        requested_at: now.toISOString(),
        address,
        reason: 'unsubscribed',
        detail: 'By the link of a mail',
      },
    ])
    if (doneAt.size >= MAX_REMEMBERED_TOKENS) doneAt.clear()
    doneAt.set(token, now.getTime())
    return true
  }
}

/** The page for a broken or outdated link. It says what a person with only this link can do. */
function invalidLinkPage() {
  return {
    status: 404,
    ...renderPage({
      title: 'This link is no longer valid',
      text: 'Nothing was changed. Use the complete link of a newer mail, or ask your team to remove this address from the alert channel.',
    }),
  }
}
