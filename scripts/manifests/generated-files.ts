import { knownSettingsText } from './known-settings.ts'
import { prometheusRuleText } from './prometheus-rules.ts'
import { ROLES_FILE, rightsPage, rolesScript } from './rights.ts'
import { topicsText, usersText } from './strimzi.ts'

const COMPONENTS = 'deploy/k8s/components'

/** The texts of the generated files of deploy/, of docs/rights.md, and of the names that its settings.env may have, by their paths. */
export function generatedFiles(): ReadonlyMap<string, string> {
  return new Map([
    [`${COMPONENTS}/prometheus/alerts.prometheusrule.yaml`, prometheusRuleText('alerts')],
    [`${COMPONENTS}/prometheus/slo.prometheusrule.yaml`, prometheusRuleText('slo')],
    ['packages/provision/src/unknown-settings/known-settings.ts', knownSettingsText()],
    [`${COMPONENTS}/strimzi/topics.yaml`, topicsText()],
    [`${COMPONENTS}/strimzi/users.yaml`, usersText()],
    ['docs/rights.md', rightsPage()],
    [ROLES_FILE, rolesScript()],
  ])
}
