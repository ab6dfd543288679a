import {
  deterministicId,
  readUnsubscribeTarget,
  UNSUBSCRIBE_PURPOSE,
  type UnsubscribeTarget,
} from '@backstop/contracts'
import { z } from 'zod'
import { defineRoute, type Route } from '../../http/route.ts'
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
export function unsubscribeRoutes({ secretBox, commands }: AdminParts): Route[] {
  const suppress = createSuppressor(commands)
  const subjectOf = (token: string) => {
    const text = secretBox.verify(UNSUBSCRIBE_PURPOSE, token)
    return text === undefined ? undefined : readUnsubscribeTarget(text)
  }
  return [
    defineRoute({
      method: 'get',
      path: '/v1/unsubscribe/{token}',
      operationId: 'showUnsubscribe',
      tag,
      summary: 'Show the unsubscribe page that a link in a mail opens',
      description: 'Changes nothing, because mail scanners open links as well.',
      scope: 'public',
      params: TokenParams,
      answers: ANSWERS,
      handle: async ({ params: { token } }) =>
        subjectOf(token) === undefined
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
        'The request of the button on the page and of the one-click header in mails (RFC 8058). The body is ignored.',
      scope: 'public',
      params: TokenParams,
      body: z.string(),
      bodyForm: 'ignored',
      answers: ANSWERS,
      refusals: ['unavailable'],
      async handle({ params: { token }, now, requestId, logger }) {
        const subject = subjectOf(token)
        if (subject !== undefined) await suppress(token, subject, now)
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
        }
      },
    }),
  ]
}

/** Returns a function that suppresses the address of a token, once for the requests of a few seconds. */
function createSuppressor(commands: AdminParts['commands']) {
  const doneAt = new Map<string, number>()
  return async (token: string, { projectId, address }: UnsubscribeTarget, now: Date): Promise<void> => {
    if (now.getTime() - (doneAt.get(token) ?? Number.NEGATIVE_INFINITY) < REMEMBER_TOKEN_MS) return
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
