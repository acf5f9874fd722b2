// What somebody writes into a module who wants the page to run it.
import { resource, type template } from './catalog'

/** hostile is markup that leaves a trace when a page takes it for markup. */
export const hostile = (where: string) => `<img src=x onerror="window.hacked='${where}'"><script>window.hacked='${where}'</script>`

/** link is an address that runs, when somebody follows it. */
export const link = `javascript:window.hacked='link'`

/** tricked is a template whose every text is hostile. */
export function tricked(one: ReturnType<typeof template>) {
  const icons = [{ name: hostile('icon'), link: 'https://evil.example.com/icon.svg' }]
  const resources = [...one.spec.resources, { name: hostile('resource'), link }]
  const data = resource('trickster', 'default', hostile('data'))
  return { ...one, spec: { ...one.spec, resources, data, info: { repository: link, documentation: link, icons } } }
}
