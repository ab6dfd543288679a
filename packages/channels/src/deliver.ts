/** The part of the channels that opens secrets and sends. Only the notifier imports it. */
export { ATTEMPT_MS, type ChannelAudience, type ChannelPorts, type ProjectFacts } from './channel.ts'
export { createSmtpMailer } from './email/smtp-mailer.ts'
export { type Mail, type Mailer, noMailer } from './mailer.ts'
export { audienceOf, CHANNEL_MODULES, deliverDigestToChannel, deliverToChannel, paceTargetOf } from './registry.ts'
