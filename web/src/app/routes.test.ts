import { expect, it, vi } from 'vitest'
import { loadAhead, pages } from './routes'

it('loads the page of an address ahead, and no other', async () => {
  const loaded: string[] = []
  for (const [path, code] of Object.entries(pages)) {
    vi.spyOn(code, 'ahead').mockImplementation(async () => void loaded.push(path))
  }
  const addresses = ['/kymas', '/kymas/new', '/kymas/kcp-system/demo', '/modules/greeter/delete', '/modules/a/b/c/delete', '/', '/login']
  for (const address of addresses) await loadAhead(address)
  expect(loaded).toEqual(['kymas', 'kymas/new', 'kymas/:ns/:kyma', 'modules/:name/delete', 'modules/:ns/:kyma/:name/delete'])
})
