/**
 * The pure part of the channels: the form of a configuration, the message to the receiver, and the meaning of its
 * answer.
 */
export * from './alert-channel.ts'
export { consolePathOf } from './alert-text/console-path.ts'
export * from './alert-text/describe-alert.ts'
export { hasDigests } from './alert-text/describe-digest.ts'
export {
  nextStepsOfBurst,
  nextStepsOfCanary,
  nextStepsOfRepeat,
  providerStepsOf,
  providerStepsOfStorm,
} from './alert-text/next-steps.ts'
export { SAMPLE_ALERTS, SAMPLE_READER } from './alert-text/sample-alerts.ts'
export { type Reader, stepsInUtc } from './alert-text/times.ts'
export type * from './answer/answer.ts'
export { type AnswerOutcome, classifyAnswer, type Fault } from './answer/classify-answer.ts'
export { describeUnreached } from './describe-suppressed.ts'
export { renderDigestMail } from './email/digest.ts'
export { type MailContent, type MailView, renderMail } from './email/message.ts'
export { recipientTag } from './email/recipient-tag.ts'
export { escapeHtml } from './escape-html.ts'
export * from './forms.ts'
export {
  actionIdsOf,
  actionWithoutPersonalData,
  type Erased,
  withoutCustomer,
  withoutErased,
  withoutPersonalData,
} from './personal-data.ts'
export type { Preview } from './preview.ts'
export { previewDigest, previewMessage } from './previews.ts'
export { digestMessage } from './slack/digest.ts'
export { type SlackMessage, slackMessage, slackWithoutBlocks } from './slack/message.ts'
export { slackPage } from './slack/page.ts'
export { WebhookTemplate } from './webhook/form.ts'
export { webhookBody, webhookDocument } from './webhook/message.ts'
