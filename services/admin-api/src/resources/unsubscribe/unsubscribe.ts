import {
  deterministicId,
  readUnsubscribeSubject,
  UNSUBSCRIBE_PURPOSE,
  type UnsubscribeSubject,
} from '@backstop/contracts'
import { z } from 'zod'
import { defineRoute, type Route } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import { page } from './pages.ts'

const tag = 'Unsubscribing'
/** Of any length: whoever comes with a broken link is a person as well, and gets the page. */
const WithToken = z.object({ token: z.string() })
const PAGE = { description: 'A page for a person', mediaType: 'text/html' } as const
const ANSWERS = { 200: PAGE, 404: { ...PAGE, description: 'A page that says that the link is not valid' } }

/**
 * Tokens that were just done: whoever posts one again and again makes nothing more of it. Not for longer than a team takes
 * to let the address go: whoever then leaves again was told so and has to be out.
 */
const REMEMBERED = 10_000
const REMEMBERED_MS = 5_000

/**
 * /v1/unsubscribe/{token}: where the links and the one-click headers of mails lead (RFC 8058). The token is the credential:
 * nobody can guess one, so who comes with a broken one is told. Nobody is told whose a good one is.
 */
export function unsubscribeRoutes({ secretBox, commands }: AdminParts): Route[] {
  const done = new Map<string, number>()
  const subjectOf = (token: string) => {
    const text = secretBox.verify(UNSUBSCRIBE_PURPOSE, token)
    return text === undefined ? undefined : readUnsubscribeSubject(text)
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
      params: WithToken,
      answers: ANSWERS,
      handle: async ({ params: { token } }) =>
        subjectOf(token) === undefined
          ? noLongerValid()
          : {
              status: 200,
              ...page({
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
      params: WithToken,
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
        if (subject === undefined) return noLongerValid()
        return {
          status: 200,
          ...page({
            title: 'You are unsubscribed',
            text: 'Alert mails of this project no longer go to this address. Ask your team to add it again if that was a mistake.',
          }),
        }
      },
    }),
  ]

  async function suppress(token: string, { projectId, address }: UnsubscribeSubject, now: Date): Promise<void> {
    if (now.getTime() - (done.get(token) ?? Number.NEGATIVE_INFINITY) < REMEMBERED_MS) return
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
    if (done.size >= REMEMBERED) done.clear()
    done.set(token, now.getTime())
  }
}

/** What a person can do who has only this link. */
function noLongerValid() {
  return {
    status: 404,
    ...page({
      title: 'This link is no longer valid',
      text: 'Nothing was changed. Use the complete link of a newer mail, or ask your team to remove this address from the alert channel.',
    }),
  }
}
