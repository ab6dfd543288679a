import { type ChannelConfigPatch, urlsOf } from '@backstop/channels'
import { createHostList, refuseCustomHeaders } from '@backstop/kit'
import { isAtOwnHost } from '../../http/own-host.ts'
import { refusedField } from '../../http/refused-field.ts'
import type { AdminParts } from '../../parts.ts'

/** Of incoming webhooks: of Slack, and of Slack for governments. */
const SLACK_HOSTS = createHostList(['hooks.slack.com', 'hooks.slack-gov.com'])

/**
 * Refuses where a channel may not deliver to, and what it may not send along.
 * @param config a new channel's, or the parts of one that change
 * @throws AppError `egress_blocked`, `invalid_request`
 */
export function checkTarget(
  { checkUrl, slackHosts }: Pick<AdminParts, 'checkUrl' | 'slackHosts'>,
  config: ChannelConfigPatch,
): void {
  for (const url of urlsOf(config)) {
    const blocked = checkUrl(url)
    if (blocked !== undefined) throw blocked
  }
  const slackUrl = config.webhook_url
  if (slackUrl !== undefined && !isAtOwnHost(SLACK_HOSTS, slackUrl) && !slackHosts.includesHostOf(slackUrl)) {
    throw refusedField(
      'body.config.webhook_url',
      'Give the URL of an incoming webhook as Slack shows it, https://hooks.slack.com/…; an operator allows other hosts by SLACK_ALLOW_HOSTS',
    )
  }
  const fault = config.headers === undefined ? undefined : refuseCustomHeaders(config.headers)
  if (fault !== undefined) throw refusedField('body.config.headers', fault)
}
